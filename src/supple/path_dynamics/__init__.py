"""Small elastic motion about a prescribed rigid one."""
