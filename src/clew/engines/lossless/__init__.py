"""The lossless engine: every message stays in the log, and a tree of summaries leads back to each of them."""
