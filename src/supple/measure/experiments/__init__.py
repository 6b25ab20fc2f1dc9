"""Kinds of measurements: what each predicts of a robot, and which noise it has."""
