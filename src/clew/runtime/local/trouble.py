"""What keeps a model from running here?"""


class NoLocalModel(RuntimeError):
    """There is no model on this machine to talk to; the text says why, and what to do."""
