"""Commands about vibration and sag."""
