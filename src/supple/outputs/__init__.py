"""What is measured of a motion: one family, for runs, paths, linear models and statics."""
