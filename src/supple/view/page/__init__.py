"""One HTML file that opens anywhere."""
