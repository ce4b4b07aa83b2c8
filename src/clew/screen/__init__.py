"""What both the chat and the command line show alike."""
