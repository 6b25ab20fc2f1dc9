"""Open chains and trees of links: their numbers, recursions and equations."""
