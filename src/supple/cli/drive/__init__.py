"""Commands that make a robot stop shaking."""
