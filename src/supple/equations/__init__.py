"""Equations of motion of the whole robot, whatever its basis."""
