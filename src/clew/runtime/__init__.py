"""Where it happens: the one place where things are put together."""
