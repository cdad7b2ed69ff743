"""transformer-viz data: download a corpus for training or evaluation."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.remote.corpora import Corpus, CorpusOffer, Part


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "corpus",
        nargs="?",
        metavar="CORPUS",
        help="tatoeba, multi30k, or a test set of sacrebleu such as wmt20; without it, all corpora "
        "are listed and nothing is sent over the network",
    )
    parser.add_argument(
        "pair", nargs="?", metavar="PAIR", help="source and target language, such as en-de"
    )
    parser.add_argument(
        "--about", action="store_true", help="only show the size and the terms of use"
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
    """Run the command; raises UserError for an unknown corpus or pair or a failed download."""
    from core.errors import UserError

    if args.corpus is None:
        _list(as_json=args.json)
        return 0
    corpus = _corpus(args.corpus)
    if args.pair is None:
        raise UserError(
            f"Name a language pair too, for example: transformer-viz data {args.corpus} en-de"
        )
    _bring(corpus, args)
    return 0


def _corpus(name: str) -> Corpus:
    from core.remote.multi30k import Multi30k
    from core.remote.sacrebleu_sets import SacrebleuSet
    from core.remote.tatoeba import Tatoeba

    own: tuple[Corpus, ...] = (Tatoeba(), Multi30k())
    return next((corpus for corpus in own if corpus.name == name), None) or SacrebleuSet(name)


def _list(*, as_json: bool) -> None:
    from core.remote.sacrebleu_sets import set_names

    corpora = [_corpus(name) for name in ("tatoeba", "multi30k", *set_names())]
    if as_json:
        rows = [
            {"corpus": corpus.name, "about": corpus.about, "licence": corpus.licence}
            for corpus in corpora
        ]
        print(json.dumps(rows))
        return
    for corpus in corpora:
        print(f"{corpus.name:<18}{corpus.about}")


def _bring(corpus: Corpus, args: argparse.Namespace) -> None:
    from core.commands.counting import Counting
    from core.remote import corpora
    from core.remote.fetching import bytes_here, megabytes, total_size

    offer = corpora.here(corpus, args.pair, args.cache)
    known = offer is not None
    if offer is None:
        offer = corpora.look_up(corpus, args.pair, args.cache)
    if not args.json:
        print(_about(offer), file=sys.stderr)
    if args.about and not known:
        if args.json:
            print(json.dumps(_described(offer, [])))
        return
    total = total_size(offer.files)
    tell = Counting(
        total, sys.stderr, as_json=args.json, begin=bytes_here(offer.files), show=megabytes
    )
    parts = corpora.bring(offer, tell)
    tell.end()
    if args.json:
        print(json.dumps(_described(offer, parts)))
    else:
        print(_checked(offer), end="", file=sys.stderr)
        for part in parts:
            print(f"{part.name}\t{part.corpus}")


def _about(offer: CorpusOffer) -> str:
    from core.remote.fetching import bytes_here, megabytes, total_size

    corpus = offer.corpus
    if not offer.files:
        size = "already downloaded"
    else:
        total, here = total_size(offer.files), bytes_here(offer.files)
        size = "unknown size" if total is None else megabytes(total)
        size += f", of which {megabytes(here)} are already downloaded" if here else ""
    return f"{corpus.name} {offer.pair}: {size}\nterms: {corpus.licence}\nfrom {corpus.site}"


def _checked(offer: CorpusOffer) -> str:
    """List the checksums of the downloaded files, and say what they were compared with."""
    from core.remote.cache import read_receipt

    receipt = read_receipt(offer.folder)
    if receipt is None or not offer.files:
        return ""
    lines = [f"{digest}  {name}" for name, (_, digest) in receipt.files.items()]
    if all(file.checksum for file in offer.files):
        lines.append("All files match the published checksums.")
    else:
        lines.append("The site publishes no checksums to verify the files with.")
    return "".join(line + "\n" for line in lines)


def _described(offer: CorpusOffer, parts: list[Part]) -> dict[str, Any]:
    from core.remote.cache import read_receipt
    from core.remote.fetching import total_size

    receipt = read_receipt(offer.folder)
    return {
        "corpus": offer.corpus.name,
        "pair": offer.pair,
        "licence": offer.corpus.licence,
        "site": offer.corpus.site,
        "size": receipt.bytes if receipt is not None else total_size(offer.files),
        "folder": str(offer.folder),
        "files": {
            name: {"size": size, "checksum": checksum}
            for name, (size, checksum) in (receipt.files if receipt else {}).items()
        },
        "parts": [
            {
                "name": part.name,
                "corpus": part.corpus,
                "source": None if part.source is None else str(part.source),
                "references": [str(path) for path in part.references],
            }
            for part in parts
        ],
    }
