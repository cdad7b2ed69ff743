"""Why a model cannot be opened."""


class RefusedError(Exception):
    """Part of an error sentence, without the model's name and the full stop; shown as a
    ``UserError``."""
