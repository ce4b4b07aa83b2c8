"""What we remember: one append-only log of every message, its chain of sessions, and what each call cost."""
