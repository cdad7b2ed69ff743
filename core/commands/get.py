"""transformer-viz get: download a translation model from the hub into the user's cache."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from core.files import is_file
from core.remote.pairs import PAIRS, repository_of

if TYPE_CHECKING:
    from core.remote.models import Offer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pair",
        nargs="?",
        metavar="PAIR",
        help="a language pair such as en-de, or a repository of the hub, OWNER/NAME; without it, "
        "all pairs are listed and nothing is sent over the network",
    )
    parser.add_argument(
        "--about", action="store_true", help="only ask the hub for the size and the licence"
    )
    parser.add_argument(
        "--cache", type=Path, metavar="FOLDER", help="use FOLDER instead of the user's cache"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as one JSON object, and progress in bytes as JSON lines on stderr",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for an invalid name, and if the download fails."""
    if args.pair is None:
        _list(as_json=args.json)
        return 0
    repository = repository_of(args.pair)
    if repository is None:
        raise UserError(
            f"{args.pair!r} is neither a language pair, such as en-de, nor a repository, "
            "OWNER/NAME; run transformer-viz get without a name to list the pairs."
        )
    _get(repository, args)
    return 0


def _list(*, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "pair": pair.name,
                "source": pair.source,
                "target": pair.target,
                "repository": pair.repository,
            }
            for pair in PAIRS.values()
        ]
        print(json.dumps(rows))
        return
    for pair in PAIRS.values():
        print(f"{pair.name:<8}{pair.source} to {pair.target}")


def _get(repository: str, args: argparse.Namespace) -> None:
    from core.commands.counting import Counting
    from core.remote import models
    from core.remote.cache import model_folder, read_receipt
    from core.remote.fetching import megabytes
    from core.remote.hub_cache import cached_models

    folder = model_folder(repository, args.cache)
    receipt = read_receipt(folder)
    if receipt is not None:
        if not args.json:
            print(
                f"{receipt.source} is already downloaded; licence: {receipt.licence}",
                file=sys.stderr,
            )
        _answer(
            folder,
            {
                "repository": receipt.source,
                "revision": receipt.revision,
                "licence": receipt.licence,
                "size": receipt.bytes,
                "here": receipt.bytes,
            },
            args,
        )
        return
    cached = None if args.cache else cached_models().get(repository)
    if cached is not None:
        _answer_cached(repository, cached, args)
        return
    offer = models.look_up(repository, args.cache)
    if not args.json:
        kept = f", of which {megabytes(offer.here)} are already downloaded" if offer.here else ""
        print(
            f"{offer.repository}: {megabytes(offer.size)}{kept}; licence: {offer.licence}",
            file=sys.stderr,
        )
    if not args.about:
        tell = Counting(offer.size, sys.stderr, as_json=args.json, begin=offer.here, show=megabytes)
        models.download(offer, tell)
        if not args.json and all(file.checksum for file in offer.files):
            print("All files match the hub's checksums.", file=sys.stderr)
    _answer(folder, _about(offer), args)


def _answer_cached(repository: str, folder: Path, args: argparse.Namespace) -> None:
    """Report a model that another program has downloaded into the Hugging Face cache."""
    size = sum(path.stat().st_size for path in folder.iterdir() if is_file(path))
    licence = f"see https://huggingface.co/{repository}"
    if not args.json:
        where = "in the Hugging Face cache"
        print(f"{repository} is already downloaded, {where}; licence: {licence}", file=sys.stderr)
    about = {
        "repository": repository,
        "revision": folder.name,
        "licence": licence,
        "size": size,
        "here": size,
    }
    _answer(folder, about, args)


def _about(offer: Offer) -> dict[str, Any]:
    return {
        "repository": offer.repository,
        "revision": offer.revision,
        "licence": offer.licence,
        "size": offer.size,
        "here": offer.here,
    }


def _answer(folder: Path, about: dict[str, Any], args: argparse.Namespace) -> None:
    if args.json:
        print(json.dumps({**about, "folder": str(folder)}))
    elif not args.about:
        print(folder)
