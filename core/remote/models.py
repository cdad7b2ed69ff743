"""MarianMT models from the hub, as folders in the user's cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, hf_hub_url
from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
from huggingface_hub.hf_api import ModelInfo, RepoSibling
from huggingface_hub.utils import build_hf_headers, validate_repo_id

from core.errors import AS_TRACE, UserError
from core.remote.cache import Receipt, model_folder
from core.remote.fetching import Progress, RemoteFile, bytes_here, fetch, total_size
from core.remote.hub_cache import NEEDED, WEIGHTS
from core.remote.licences import in_words
from core.remote.site import asking, bounded_json, unreadable

INSTEAD = (
    "copy the model's folder from a computer that has it and open that (File, Open; "
    "or --model FOLDER)"
)
_AGENT = "transformer-viz"
"""The library's own tells versions of Python and PyTorch, wherever its telemetry was left on."""

_WANTED = (
    *("generation_config.json", "target_vocab.json", "tokenizer_config.json"),
    *("special_tokens_map.json", "README.md", "LICENSE"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a repository contains that is needed here.

    Attributes:
        revision: the commit, 40 hexadecimal digits.
        licence: in words, as the model's card says.
        folder: where its files go.
    """

    repository: str
    revision: str
    licence: str
    files: tuple[RemoteFile, ...]
    folder: Path

    @property
    def size(self) -> int:
        """The size in bytes."""
        return total_size(self.files) or 0

    @property
    def here(self) -> int:
        """The number of bytes that are already here."""
        return bytes_here(self.files)


def look_up(repository: str, cache: Path | None = None, endpoint: str | None = None) -> Offer:
    """Ask the hub about a model.

    Args:
        endpoint: of the hub; None is what huggingface_hub uses.

    Raises:
        UserError: the hub cannot be reached or has no such model, or it is not one of Marian's.
    """
    api = HfApi(endpoint=endpoint)
    with asking(api.endpoint, INSTEAD):
        try:
            validate_repo_id(repository)
            # HfApi.model_info would read an answer of any length
            url = f"{api.endpoint}/api/models/{repository}?blobs=true"
            info = ModelInfo(**bounded_json(url, build_hf_headers()))  # type: ignore[no-untyped-call]
        except (RepositoryNotFoundError, HFValidationError) as error:
            raise UserError(
                f"The hub has no model {repository}; run `transformer-viz get` to list the "
                "available pairs."
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise unreadable(api.endpoint, INSTEAD) from error
    return _offer(info, model_folder(repository, cache), api.endpoint)


def download(offer: Offer, progress: Progress) -> Path:
    """Download a model and return its folder, once it is complete and matches the hub's checksums.

    Raises:
        UserError: as ``core.remote.fetching.fetch`` does.
    """
    fetch(offer.files, offer.folder, progress, INSTEAD)
    Receipt.of(
        offer.folder,
        [file.path for file in offer.files],
        source=offer.repository,
        revision=offer.revision,
        licence=offer.licence,
    ).write(offer.folder)
    return offer.folder


def _offer(info: ModelInfo, folder: Path, endpoint: str) -> Offer:
    there = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    _require_marian(info, set(there))
    weights = next(name for name in WEIGHTS if name in there)
    names = [*NEEDED, *(name for name in _WANTED if name in there), weights]
    revision = str(info.sha)
    headers = {**build_hf_headers(), "user-agent": _AGENT}
    return Offer(
        repository=info.id,
        revision=revision,
        licence=in_words(None if info.card_data is None else info.card_data.get("license")),
        folder=folder,
        files=tuple(
            RemoteFile(
                url=hf_hub_url(info.id, name, revision=revision, endpoint=endpoint),
                path=folder / name,
                size=there[name].size,
                checksum=_checksum(there[name]),
                headers=headers,
            )
            for name in names
        ),
    )


def _require_marian(info: ModelInfo, names: set[str]) -> None:
    kind = (info.config or {}).get("model_type", "marian")
    if kind != "marian":
        raise UserError(
            f"{info.id} is a {kind} model, but only Marian models can be opened. Load it with "
            f"transformers and {AS_TRACE}."
        )
    missing = [name for name in NEEDED if name not in names]
    if not names & set(WEIGHTS):
        missing.append(" or ".join(WEIGHTS))
    if missing:
        raise UserError(f"{info.id} is not a MarianMT model: it has no {', no '.join(missing)}.")


def _checksum(file: RepoSibling) -> str | None:
    """Large files have a SHA-256, small ones the id that git gives them."""
    if file.lfs is not None:
        return f"sha256:{file.lfs.sha256}"
    return None if file.blob_id is None else f"git:{file.blob_id}"
