"""The training recipe of the paper."""
