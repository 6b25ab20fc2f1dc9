"""Draws answers; computes nothing."""
