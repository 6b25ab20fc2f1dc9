"""How a Model is carried through time: inputs, plans and steppers."""
