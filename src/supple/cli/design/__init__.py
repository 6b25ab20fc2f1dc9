"""Commands about variants of a robot."""
