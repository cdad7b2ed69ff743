"""The one error that is shown to users as it stands."""


class UserError(Exception):
    """A failure said in the user's words: one sentence that names the thing and the fix."""


TRACES_PAGE = "Traces of other models"
"""A heading of the user guide, resources/help.md."""

AS_TRACE = (
    f"save its attention as a trace and open that: the user guide shows how under “{TRACES_PAGE}”"
)
"""The end of a sentence on a model that cannot be opened itself."""
