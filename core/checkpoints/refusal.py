"""Why a model cannot be opened."""


class RefusedError(Exception):
    """The error whose text is a sentence without the model's name and the full stop; it is shown as
    a ``UserError``."""
