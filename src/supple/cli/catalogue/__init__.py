"""Commands about robots, papers and pictures."""
