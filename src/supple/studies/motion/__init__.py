"""How does it move: questions about motion in time."""
