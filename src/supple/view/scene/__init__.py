"""An answer as plain drawable data."""
