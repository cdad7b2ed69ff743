"""Decodes with CTranslate2, alone in its process: its threads slow torch's down in one of both.

Arguments: the model's folder. For each line on stdin, a JSON object, one line on stdout.
"""

from __future__ import annotations

import json
import sys
import time

import ctranslate2

translators: dict[tuple[int, str], ctranslate2.Translator] = {}
for line in sys.stdin:
    asked = json.loads(line)
    kind = (asked["threads"], asked["type"])
    if kind not in translators:
        translators[kind] = ctranslate2.Translator(
            sys.argv[1], compute_type=asked["type"], intra_threads=asked["threads"]
        )
    start = time.perf_counter()
    found = translators[kind].translate_batch(
        asked["source"], beam_size=asked["beam"], max_decoding_length=asked["tokens"]
    )
    seconds = time.perf_counter() - start
    answer = {"seconds": seconds, "found": [result.hypotheses[0] for result in found]}
    print(json.dumps(answer), flush=True)
