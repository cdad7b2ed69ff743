"""What an edit left as it was."""


def common_ends(before: str, after: str) -> tuple[int, int]:
    """How many characters two texts share at the start, and at the end beyond these."""
    room = min(len(before), len(after))
    start = next((i for i in range(room) if before[i] != after[i]), room)
    rest = room - start
    end = next((i for i in range(rest) if before[-i - 1] != after[-i - 1]), rest)
    return start, end
