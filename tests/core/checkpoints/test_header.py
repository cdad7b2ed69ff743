from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.checkpoints.header import read_header
from core.config import ModelConfig
from core.errors import UserError

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ModelConfig(vocab_size=10, d_model=8, encoder_heads=2, decoder_heads=2)
METADATA = {
    "format": "transformer-viz",
    "format_version": "1",
    "config": json.dumps(CONFIG.to_dict()),
    "provenance": json.dumps({"data": ["grammar"], "step": 100}),
}
TENSORS = {
    "tokenizer": {"dtype": "U8", "shape": [7], "data_offsets": [0, 7]},
    "a": {"dtype": "F16", "shape": [2, 3], "data_offsets": [7, 19]},
    "b": {"dtype": "F32", "shape": [], "data_offsets": [19, 23]},
}
VALID: dict[str, Any] = {"__metadata__": METADATA, **TENSORS}


def written(path: Path, block: Any, data: bytes = bytes(23)) -> Path:
    """A file in the layout of safetensors; ``block`` as it is, or anything to write as JSON."""
    if not isinstance(block, bytes):
        block = json.dumps(block).encode()
    path.write_bytes(len(block).to_bytes(8, "little") + block + data)
    return path


def test_the_header_says_configuration_provenance_and_size(tmp_path: Path) -> None:
    header = read_header(written(tmp_path / "m.safetensors", VALID))
    assert header.config == CONFIG
    assert header.provenance == {"data": ["grammar"], "step": 100}
    assert header.parameters == 7  # 2·3 and a scalar; the tokenizer is none


def test_reading_a_header_needs_no_torch(tmp_path: Path) -> None:
    path = written(tmp_path / "m.safetensors", VALID)
    program = (
        "import sys\n"
        "from core.checkpoints.header import read_header\n"
        f"read_header({str(path)!r})\n"
        "assert not {'torch', 'numpy', 'safetensors'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=60)


def replaced(**metadata: object) -> dict[str, Any]:
    return {**VALID, "__metadata__": {**METADATA, **metadata}}


DAMAGED = "truncated or damaged"
MALFORMED: list[tuple[Any, str]] = [
    (b"", "is not a model; choose a .safetensors file"),
    (b"PK\x03\x04 zip", "is not a model; choose a .safetensors file"),
    (b"[]", "is not a model; choose a .safetensors file"),
    (b"{", DAMAGED),
    (b'{"a": ' + b"[" * 100_000, DAMAGED),
    (b'{"\xff": 1}', DAMAGED),
    ({"a": 1}, DAMAGED),
    ({"a": {}}, DAMAGED),
    ({"a": {"data_offsets": [0]}}, DAMAGED),
    ({"a": {"data_offsets": [0, "x"]}, "b": {"data_offsets": [0, 1]}}, DAMAGED),
    ({"a": {"data_offsets": [0, 1]}}, DAMAGED),
    ({"a": {"shape": ["a", 10**12], "data_offsets": [0, 1]}}, DAMAGED),
    ({"a": {"shape": [[0], 10**12], "data_offsets": [0, 1]}}, DAMAGED),
    ({"__metadata__": []}, DAMAGED),
    ({"__metadata__": None}, DAMAGED),
    ({}, "not a Transformer Viz model"),
    (TENSORS, "not a Transformer Viz model"),
    ({"__metadata__": {"format": "pt"}}, "not a Transformer Viz model"),
    (replaced(format_version="2"), "version 2, .* update Transformer Viz"),
    (replaced(format_version=1), "this program reads version 1"),
    (replaced(format_version=""), "this program reads version 1"),
    (replaced(config="{"), "does not describe its model"),
    (replaced(config="[]"), "impossible model: ModelConfig needs"),
    (replaced(config="3"), "does not describe its model"),
    (replaced(config=None), "does not describe its model"),
    (replaced(config='{"vocab_size": 2}'), "impossible model: vocab_size = 2"),
    (replaced(config='{"vocab_size": 9, "layers": 2}'), "no setting 'layers'"),
    (replaced(provenance="{"), "does not describe its model"),
]


@pytest.mark.parametrize(("block", "message"), MALFORMED, ids=lambda value: str(value)[:40])
def test_each_way_to_be_no_model_has_its_sentence(tmp_path: Path, block: Any, message: str) -> None:
    path = written(tmp_path / "m.safetensors", block)
    with pytest.raises(UserError, match=message) as raised:
        read_header(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    "changes",
    [
        *({"shape": [size, 3]} for size in (2**31, 2**62, 2**64, 10**400, -2)),
        {"data_offsets": [-2, 22]},
        {"data_offsets": [0, 4]},
        {"dtype": "F16"},
        {"dtype": ["F32"]},
    ],
    ids=str,
)
def test_sizes_that_contradict_each_other(tmp_path: Path, changes: dict[str, Any]) -> None:
    name = next(iter(TENSORS))
    block = {**VALID, name: {**TENSORS[name], **changes}}
    with pytest.raises(UserError, match="is damaged"):
        read_header(written(tmp_path / "m.safetensors", block))


def test_missing_data_is_noticed_without_reading_it(tmp_path: Path) -> None:
    path = written(tmp_path / "m.safetensors", VALID, data=bytes(22))
    with pytest.raises(UserError, match="is truncated"):
        read_header(path)


def test_an_absurd_length_is_not_allocated(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(b"\xff" * 8 + b"{}")
    with pytest.raises(UserError, match="is not a model"):
        read_header(path)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=60), st.integers(0, 100))
def test_any_bytes_end_in_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, length: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    for prefix in (b"", length.to_bytes(8, "little"), length.to_bytes(8, "little") + b"{"):
        path.write_bytes(prefix + content)
        with pytest.raises(UserError):
            read_header(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(deadline=None, max_examples=200)
@given(
    place=st.sampled_from(
        [
            ("__metadata__",),
            *(("__metadata__", key) for key in METADATA),
            ("a",),
            ("a", "shape"),
            ("a", "data_offsets"),
        ]
    ),
    value=json_values,
)
@example(place=("a", "data_offsets"), value=[None, False])
def test_any_json_in_any_place_ends_in_one_sentence_or_a_header(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[str, ...], value: Any
) -> None:
    block = json.loads(json.dumps(VALID))
    inner = block
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = json.dumps(value) if place[-1] in ("config", "provenance") else value
    path = written(tmp_path_factory.getbasetemp() / "json.safetensors", block)
    with suppress(UserError):
        read_header(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist; check the name"):
        read_header(tmp_path / "missing.safetensors")


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError):
        read_header(tmp_path / name)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is a folder; open the \.safetensors file in it"):
        read_header(tmp_path)


@pytest.mark.usefixtures("permissions")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = written(tmp_path / "m.safetensors", VALID)
    path.chmod(0o000)
    with pytest.raises(UserError, match="may not be read; change its permissions"):
        read_header(path)
