"""From recordings to frequencies, from frequencies to a robot, and where to measure next."""
