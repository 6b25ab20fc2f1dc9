"""How is it driven so that it stops shaking: shaping, inversion, planning, comparison."""
