"""clew keeps an LLM agent's long conversation inside its model's window and never loses the thread."""
