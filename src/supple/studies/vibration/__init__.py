"""How does it vibrate: questions about frequencies and shapes."""
