"""Commands about where the tip is."""
