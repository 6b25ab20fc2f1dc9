"""Published tables recomputed: one module a paper, its printed numbers as data beside it."""
