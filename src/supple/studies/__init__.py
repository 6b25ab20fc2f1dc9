"""One question a file: functions from a Robot or Model to an answer."""
