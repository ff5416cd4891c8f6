"""An independent whiteboard peer, written from the documents in `Protocol/` alone.

It shares no code with the Swift program, so that a mistake in the specification, or an agreement
between encoder and decoder that the specification does not hold, is seen.
"""
