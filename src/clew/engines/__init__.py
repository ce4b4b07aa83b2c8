"""How to make room: pure strategies."""
