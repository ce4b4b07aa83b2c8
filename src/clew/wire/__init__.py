"""How others spell it: pure codecs."""
