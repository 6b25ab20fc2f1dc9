"""Commands about motion."""
