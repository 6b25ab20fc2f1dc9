"""Where is the tip, and which joints put it there."""
