"""How a Model is carried through time: one stepper a file."""
