"""Door: programs. An HTTP gateway that speaks three dialects and passes on what is asked, byte for byte."""
