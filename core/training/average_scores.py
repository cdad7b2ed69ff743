"""How good the mean of the last checkpoints of a run is, by how many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.errors import UserError
from core.training.averaging import average_checkpoints
from core.training.data import TrainingData
from core.training.preparation import unwatched
from core.training.run_folder import RunFolder
from core.training.survey import saved_survey, take_survey
from core.training.validation import Result, validate, validation_search


def average_scores(folder: RunFolder, counts: Sequence[int]) -> Iterator[tuple[int, Result]]:
    """Yield each number of checkpoints with the scores of their mean, on the run's validation
    sentences and with the search of its validations.

    Args:
        counts: each at least 1 and at most the number of checkpoints.

    Raises:
        UserError: the run's data or a checkpoint cannot be read, or the data have changed.
    """
    config, about = folder.read_record()
    training = config.training
    survey = saved_survey(folder.data, training, unwatched) or take_survey(training, unwatched)
    if survey.checksum != about.get("data_checksum"):
        raise UserError(
            f"The data of {folder.path}, files or grammar, has changed since the run began, so its "
            "validation sentences are not the same; restore the files and the program version."
        )
    checkpoints = folder.checkpoints()
    for count in counts:
        average = average_checkpoints(checkpoints[-count:])
        data = TrainingData(survey, average.tokenizer, training, folder.data)
        try:
            yield (
                count,
                validate(
                    average.model,
                    average.tokenizer,
                    data.validation,
                    data.references,
                    min(training.source_batch_tokens, training.target_batch_tokens),
                    search=validation_search(training),
                ),
            )
        finally:
            data.close()
