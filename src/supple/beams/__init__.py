"""One elastic link on its own: theory, exact stiffness, bases."""
