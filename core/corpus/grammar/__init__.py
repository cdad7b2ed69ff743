"""A grammar that writes English sentences, their German translations and their gold annotations."""
