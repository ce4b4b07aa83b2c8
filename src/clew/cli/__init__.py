"""Door: the command line."""
