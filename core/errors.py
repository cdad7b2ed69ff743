"""The one error that is shown to users as it stands."""


class UserError(Exception):
    """A failure said in the user's words: one sentence that names the thing and the fix."""
