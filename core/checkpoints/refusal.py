"""Why a model cannot be opened."""


class RefusedError(Exception):
    """Half a sentence, without the model's name and the full stop; shown as a ``UserError``."""
