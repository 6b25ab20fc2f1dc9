"""Shape functions on a link of fixed length."""
