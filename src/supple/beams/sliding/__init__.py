"""Shape functions on a link that slides: everything depends on its free length."""
