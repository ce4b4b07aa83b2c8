"""What was said in this recorded conversation, whatever program wrote it down?"""

from clew.wire.transcripts.detect import FORMATS, read_transcript
from clew.wire.transcripts.values import Format, Problem, Transcript, UnreadableTranscript

__all__ = ["FORMATS", "Format", "Problem", "Transcript", "UnreadableTranscript", "read_transcript"]
