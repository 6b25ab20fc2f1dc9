"""Equations of motion of the whole robot, under any basis."""
