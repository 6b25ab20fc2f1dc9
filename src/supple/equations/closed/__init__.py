"""Loops closed inside the equations of motion."""
