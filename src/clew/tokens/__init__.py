"""How heavy text is."""
