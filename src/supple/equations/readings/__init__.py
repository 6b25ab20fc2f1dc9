"""How published papers write parts of the equations, beside ours."""
