"""Arrays in, arrays out: no robot, no file, no unit."""
