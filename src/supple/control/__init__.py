"""The motion wanted, and how a robot is driven to it."""
