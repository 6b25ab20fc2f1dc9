"""Commands that hand a robot to other tools."""
