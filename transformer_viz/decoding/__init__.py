"""The Decoding view: candidates, beams, and a target of one's own."""
