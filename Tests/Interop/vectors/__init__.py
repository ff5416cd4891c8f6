"""The groups of Protocol/Vectors/board.json, one module for each part of board.md."""
