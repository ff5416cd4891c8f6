"""An independent whiteboard peer, written from the documents in `Protocol/` alone.

It shares no code with the Swift program. So the tests find mistakes in the specification, and errors that the Swift
encoder and decoder have in common.
"""
