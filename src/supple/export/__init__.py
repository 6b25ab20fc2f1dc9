"""What leaves the house: controllers as C."""
