"""Live in the browser, on a viser server."""
