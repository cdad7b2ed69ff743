"""Our safetensors files: readable by the library, the same bytes for the same content."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import safetensors
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.checkpoints.header import read_metadata, split_header
from core.checkpoints.tensor_file import require_intact, write_tensors
from core.errors import UserError

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32]
DTYPES += [torch.int16, torch.int8, torch.uint8, torch.bool]
TENSORS = {f"t.{dtype}": torch.arange(5).reshape(5, 1).to(dtype) for dtype in DTYPES}
TENSORS |= {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "ä": torch.ones(2, 3).t()}
METADATA = {"format": "test", "b": "größer 駅", "a": "1"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.safetensors"
    write_tensors(path, TENSORS, METADATA)
    return path


def test_the_library_reads_what_was_written(path: Path) -> None:
    read = safetensors.torch.load_file(path)
    assert read.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert read[name].dtype == tensor.dtype
        assert torch.equal(read[name], tensor), name
    with safetensors.safe_open(path, "pt") as file:
        assert file.metadata().items() >= METADATA.items()
    assert read_metadata(path).items() >= METADATA.items()


def test_numbers_begin_where_every_dtype_is_aligned(path: Path) -> None:
    block, _ = split_header(path)
    assert (8 + len(block)) % 8 == 0
    for name, entry in json.loads(block).items():
        if name != "__metadata__" and TENSORS[name].numel():
            assert entry["data_offsets"][0] % TENSORS[name].element_size() == 0, name


def test_the_order_of_what_is_given_leaves_no_trace(path: Path) -> None:
    other = path.with_name("other")
    write_tensors(other, dict(reversed(TENSORS.items())), dict(reversed(METADATA.items())))
    assert other.read_bytes() == path.read_bytes()


def test_another_process_writes_the_same_bytes(path: Path) -> None:
    """Whose hash tables have another order."""
    other = path.with_name("other")
    code = (
        "from pathlib import Path; from core.checkpoints.tensor_file import write_tensors;"
        "from tests.core.checkpoints.test_tensor_file import METADATA, TENSORS;"
        f"write_tensors(Path({str(other)!r}), TENSORS, METADATA)"
    )
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
    assert other.read_bytes() == path.read_bytes()


def test_a_whole_file_is_intact(path: Path) -> None:
    require_intact(path)


@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_bit_can_change_unseen(
    tmp_path_factory: pytest.TempPathFactory, at: float, bit: int
) -> None:
    path = tmp_path_factory.mktemp("flipped") / "file"
    write_tensors(path, {"a": torch.arange(40.0), "b": torch.ones(3)}, {"format": "test"})
    content = bytearray(path.read_bytes())
    content[int(at * len(content))] ^= 1 << bit
    path.write_bytes(content)
    try:
        require_intact(path)
        with safetensors.safe_open(path, "pt") as file:
            found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata()
    except (UserError, safetensors.SafetensorError):
        return
    # Of what is left, only the name of the checksum can have changed, and padding.
    assert torch.equal(found["a"], torch.arange(40.0))
    assert torch.equal(found["b"], torch.ones(3))
    assert metadata["format"] == "test"


def test_a_file_of_the_library_has_no_checksum_and_is_taken_as_it_is(path: Path) -> None:
    safetensors.torch.save_file({"a": torch.zeros(2)}, path)
    require_intact(path)
