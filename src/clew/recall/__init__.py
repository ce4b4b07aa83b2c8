"""How to find it again: a full-text index beside the log, which can be dropped and made anew from it."""
