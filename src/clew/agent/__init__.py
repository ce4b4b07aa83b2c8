"""Door: a person."""
