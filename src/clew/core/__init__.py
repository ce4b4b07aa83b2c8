"""What to do next: pure decisions. Start at turn.py."""
