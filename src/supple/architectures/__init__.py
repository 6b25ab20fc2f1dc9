"""One family of robots a file: where its links are, in closed form."""
