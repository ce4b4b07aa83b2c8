"""What things are: frozen values, arithmetic only."""
