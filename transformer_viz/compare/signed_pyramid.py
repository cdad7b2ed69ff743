"""Shrinking pictures of signed numbers by their magnitude: neither sign may vanish."""

import numpy as np

from transformer_viz.drawing.pooling import Pyramid


class SignedPyramid(Pyramid):
    """A pyramid of `diverging` codes, uint8 [h, w]: a block has the code that is farthest from
    that of 0, the positive one if two are equally far, and is masked only where all of it is."""

    def __init__(self, codes: np.ndarray) -> None:
        mirrored = Pyramid(np.negative(codes))  # modulo 256: ZERO and masked stay, signs change
        super().__init__(codes)
        self.levels = tuple(
            np.where(positive >= negative, positive, np.negative(negative))
            for positive, negative in zip(self.levels, mirrored.levels, strict=True)
        )
