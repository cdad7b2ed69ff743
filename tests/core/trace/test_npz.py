from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from core.errors import UserError
from core.heads import EVEN
from core.switches import Scaling, Switches
from core.text.tokens import Token, TokenKind
from core.trace.npz import load_npz, maps_size, save_npz
from core.trace.trace import (
    AttentionKind,
    ComputedAttention,
    Head,
    LayerProjections,
    StoredAttention,
    Trace,
)

S, T = 4, 3


def projections(heads: int, queries: int, keys: int, seed: int) -> tuple[LayerProjections, ...]:
    random = np.random.default_rng(seed)

    def values(rows: int) -> Any:
        return random.normal(size=(heads, rows, 6)).astype(np.float32)

    return tuple(LayerProjections(values(queries), values(keys), values(keys)) for _ in range(2))


def trace(**changes: Any) -> Trace:
    end = Token("</s>", 3, TokenKind.SPECIAL)
    words = (Token("▁das", 5), Token("▁Tier", 6))
    return Trace(
        **{
            "source_tokens": (
                Token("▁the", 7, start=0, end=3),
                Token("▁animal", 8, start=4, end=10),
                Token("<unk>", 1, TokenKind.UNKNOWN, 11, 12, surface="駅"),
                end,
            ),
            "target_tokens": (Token("<s>", 2, TokenKind.SPECIAL), *words),
            "predicted_tokens": (*words, end),
            "log_probabilities": np.array([-0.5, -0.25, -1.5], dtype=np.float32),
            "attention": {
                AttentionKind.ENCODER_SELF: ComputedAttention(projections(2, S, S, 1)),
                AttentionKind.DECODER_SELF: ComputedAttention(projections(3, T, T, 2), causal=True),
                AttentionKind.CROSS: ComputedAttention(projections(3, T, S, 3)),
            },
            "text": "the animal 駅",
            "translation": "das Tier",
            "gates": {
                Head(AttentionKind.CROSS, 1, 2): 0.0,
                Head(AttentionKind.CROSS, 0, 0): 0.7,
                Head(AttentionKind.ENCODER_SELF, 0, 1): EVEN,
            },
        }
        | changes
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.npz"


def test_what_is_loaded_is_what_was_saved(path: Path) -> None:
    saved = trace()
    save_npz(saved, path)
    loaded = load_npz(path)
    assert loaded.kinds == saved.kinds
    for kind in saved.kinds:
        for layer in range(saved.layers(kind)):
            expected = saved.layer_weights(kind, layer)
            assert np.array_equal(loaded.layer_weights(kind, layer), expected)
        assert np.array_equal(loaded.allowed(kind), saved.allowed(kind))
        assert not loaded.has_scores(kind)
    for name in ("source_tokens", "target_tokens", "predicted_tokens"):
        before, after = getattr(saved, name), getattr(loaded, name)
        assert [token.label for token in after] == [token.label for token in before]
        is_special = [token.kind is TokenKind.SPECIAL for token in before]
        assert [token.kind is TokenKind.SPECIAL for token in after] == is_special
    assert (loaded.text, loaded.translation) == (saved.text, saved.translation)
    assert np.array_equal(loaded.log_probabilities, saved.log_probabilities)
    assert loaded.gates == saved.gates


def test_a_file_is_plain_numpy(path: Path) -> None:
    save_npz(trace(), path)
    with np.load(path, allow_pickle=False) as file:
        assert {name: file[name].shape for name in file.files} == {
            "source_tokens": (S,),
            "target_tokens": (T,),
            "predicted_tokens": (T,),
            "log_probabilities": (T,),
            "special_tokens": (2,),
            "word_mark": (),
            "gates": (3,),
            "text": (),
            "translation": (),
            "encoder_self": (2, 2, S, S),
            "decoder_self": (2, 3, T, T),
            "cross": (2, 3, T, S),
        }
        assert file["source_tokens"].tolist() == ["▁the", "▁animal", "駅", "</s>"]
        assert file["special_tokens"].tolist() == ["</s>", "<s>"]
        assert file["cross"].dtype == np.float32
        assert file["gates"].tolist() == [
            *("cross.1.2=0.0", "cross.0.0=0.7", "encoder_self.0.1=even")
        ]


def test_a_trace_without_some_parts_keeps_to_the_others(path: Path) -> None:
    maps = StoredAttention(np.full((1, 2, S, S), 0.25, dtype=np.float32))
    attention = {AttentionKind.ENCODER_SELF: maps}
    without: dict[str, Any] = {"target_tokens": (), "predicted_tokens": ()}
    save_npz(trace(attention=attention, log_probabilities=None, **without), path)
    loaded = load_npz(path)
    assert loaded.kinds == (AttentionKind.ENCODER_SELF,)
    assert loaded.target_tokens == ()
    assert loaded.log_probabilities is None


def foreign(**changes: Any) -> dict[str, Any]:
    """What another program may write."""
    return {
        "source_tokens": np.array(["[CLS]", "hi", "there", "[SEP]"]),
        "target_tokens": np.array(["<s>", "a", "b"]),
        "cross": np.full((1, 2, T, S), 0.25),
    } | changes


def partly(value: float) -> Any:
    """Maps with this in one cell."""
    maps = np.full((1, 2, T, S), 0.25)
    maps[0, 1, 2, 0] = value
    return maps


def test_progress_counts_every_map_and_may_end_the_writing(path: Path) -> None:
    told: list[tuple[int, int]] = []
    save_npz(trace(), path, lambda done, total: told.append((done, total)))
    maps, size = maps_size(trace())
    assert told == [(number, maps) for number in range(maps)]
    assert maps == 2 * 2 + 2 * 3 + 2 * 3
    assert size == 4 * (2 * 2 * S * S + 2 * 3 * T * T + 2 * 3 * T * S)
    before = path.read_bytes()

    def stop(done: int, _total: int) -> None:
        if done == 3:
            raise StopIteration

    with pytest.raises(StopIteration):
        save_npz(trace(), path, stop)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_another_programs_file_is_read(path: Path) -> None:
    np.savez(path, **foreign())
    loaded = load_npz(path)
    assert loaded.kinds == (AttentionKind.CROSS,)
    assert loaded.weights(AttentionKind.CROSS, 0, 1).dtype == np.float32
    kinds = [token.kind for token in loaded.source_tokens]
    assert kinds == [TokenKind.SPECIAL, TokenKind.PIECE, TokenKind.PIECE, TokenKind.SPECIAL]


def test_a_text_and_a_translation_are_spelled_where_none_are_given(path: Path) -> None:
    np.savez(path, **foreign())
    loaded = load_npz(path)
    assert (loaded.text, loaded.translation) == ("hi there", "a b")
    assert [(token.start, token.end) for token in loaded.source_tokens[1:3]] == [(0, 2), (3, 8)]


def test_a_decoder_alone_has_its_own_text(path: Path) -> None:
    maps = np.tril(np.ones((1, 2, 3, 3))) / np.arange(1, 4)[:, None]
    np.savez(path, target_tokens=np.array(["A", "Ġnew", "Ġcar"]), decoder_self=maps)
    loaded = load_npz(path)
    assert loaded.kinds == (AttentionKind.DECODER_SELF,)
    assert loaded.source_tokens == ()
    assert loaded.text == "A new car"


def test_where_tokens_are_in_the_text_is_found_again(path: Path) -> None:
    saved = trace()
    save_npz(saved, path)
    places = [(token.start, token.end) for token in load_npz(path).source_tokens]
    assert places == [(token.start, token.end) for token in saved.source_tokens]


def test_special_tokens_may_be_named(path: Path) -> None:
    np.savez(path, **foreign(special_tokens=np.array(["there", "never"])))
    kinds = [token.kind for token in load_npz(path).source_tokens]
    assert kinds == [TokenKind.SPECIAL, TokenKind.PIECE, TokenKind.SPECIAL, TokenKind.SPECIAL]


def test_other_arrays_are_left_alone(path: Path) -> None:
    np.savez(path, **foreign(hidden=np.array([{}], dtype=object), special_tokens=np.array([])))
    assert load_npz(path).kinds == (AttentionKind.CROSS,)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_weights_of_any_precision_are_read(path: Path, dtype: type[np.floating[Any]]) -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(S), (1, 2, T)).astype(dtype)
    np.savez(path, **foreign(cross=np.asfortranarray(weights)))
    loaded = load_npz(path).layer_weights(AttentionKind.CROSS, 0)
    assert np.array_equal(loaded, weights[0].astype(np.float32))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"cross": np.full((1, 2, T, S + 1), 0.25)}, r"cross has shape \[1, 2, 3, 5\]"),
        ({"cross": np.full((2, T, S), 0.25)}, "cross has shape"),
        ({"cross": np.zeros((0, 2, T, S))}, "cross has shape"),
        ({"cross": np.full((1, 2, T, S), 0.3)}, "cross has rows that do not add up"),
        ({"cross": np.full((1, 2, T, S), np.nan)}, "cross consists of NaN values only"),
        ({"cross": partly(np.nan)}, r"cross has values .*cross\[0, 1, 2, 0\], nan"),
        ({"cross": partly(-0.5)}, r"cross has values .*cross\[0, 1, 2, 0\], -0\.5"),
        ({"cross": partly(0.5)}, r"rows that do not add up to 1, .* cross\[0, 1, 2\], 1\.25"),
        ({"cross": np.array([[[[1.5, -0.5, 0, 0]] * T] * 2])}, "cross has values"),
        ({"cross": np.ones((1, 2, T, S), dtype=np.int64)}, "cross has type int64"),
        ({"cross": np.array("x")}, "cross"),
        ({"source_tokens": np.array("hi")}, "source_tokens has shape"),
        ({"source_tokens": np.arange(S)}, "source_tokens has .*type int64"),
        ({"source_tokens": np.array([b"a"] * S)}, "source_tokens has .*type"),
        ({"source_tokens": np.array([["a"] * S])}, r"source_tokens has shape \[1, 4\]"),
        ({"source_tokens": np.array([])}, "needs the array source_tokens"),
        ({"special_tokens": np.arange(2)}, "special_tokens has"),
        ({"text": np.array(["a", "b"])}, "text has type"),
        ({"translation": np.array(1)}, "translation has type int64"),
        ({"predicted_tokens": np.array(["a"])}, "predicted_tokens"),
        ({"log_probabilities": np.zeros((T, 1))}, "log_probabilities"),
        ({"log_probabilities": np.array(["a"] * T)}, "log_probabilities"),
        ({"log_probabilities": np.array([-1.0, np.nan, -1.0])}, "log_probabilities has entries"),
        ({"log_probabilities": np.array([-1.0, 0.5, -1.0])}, "log_probabilities has entries"),
        ({"gates": np.array(["cross.0"])}, "gates: 'cross.0' names no head"),
        ({"switches": np.array(["mask=no"])}, "switches: 'mask=no' names no switch"),
        ({"gates": np.array(["cross.0.0=off"])}, "gates: .*'off' is neither a finite number"),
        ({"decoder_self": np.full((1, 1, T, T), 1 / T)}, "decoder_self has weight on later tokens"),
        ({"source_tokens": np.array([{}] * S, dtype=object)}, "source_tokens cannot be read"),
    ],
)
def test_a_wrong_array_is_named(path: Path, changes: dict[str, Any], named: str) -> None:
    np.savez(path, **foreign(**changes))
    with pytest.raises(UserError, match=named):
        load_npz(path)


@pytest.mark.parametrize("missing", ["predicted_tokens", "log_probabilities"])
def test_a_trace_that_lacks_something_can_be_saved_and_loaded(path: Path, missing: str) -> None:
    absent: dict[str, Any] = {"predicted_tokens": (), "log_probabilities": None}
    save_npz(trace(**{missing: absent[missing]}), path)
    assert getattr(load_npz(path), missing) == absent[missing]


def test_a_trace_without_a_mask_says_so_and_keeps_what_was_seen(path: Path) -> None:
    switches = Switches(scaling=Scaling.TWICE, mask=False)
    seen = ComputedAttention(projections(3, T, T, 2))
    save_npz(trace(attention={AttentionKind.DECODER_SELF: seen}, switches=switches), path)
    loaded = load_npz(path)
    assert loaded.switches == switches
    assert loaded.allowed(AttentionKind.DECODER_SELF).all()
    expected = seen.weights(1, 2)
    assert np.array_equal(loaded.weights(AttentionKind.DECODER_SELF, 1, 2), expected)


@pytest.mark.parametrize("kind", AttentionKind)
def test_a_trace_of_one_kind_can_be_saved_and_loaded(path: Path, kind: AttentionKind) -> None:
    whole = trace()
    no_source = {"source_tokens": ()} if kind is AttentionKind.DECODER_SELF else {}
    save_npz(trace(attention={kind: whole.attention[kind]}, **no_source), path)
    loaded = load_npz(path)
    assert loaded.kinds == (kind,)
    assert np.array_equal(loaded.weights(kind, 0, 0), whole.weights(kind, 0, 0))


@pytest.mark.parametrize("missing", ["source_tokens", "target_tokens"])
def test_a_missing_array_is_named(path: Path, missing: str) -> None:
    arrays = foreign()
    del arrays[missing]
    np.savez(path, **arrays)
    with pytest.raises(UserError, match=f"needs the array {missing}"):
        load_npz(path)


def test_a_file_without_attention_says_what_it_needs(path: Path) -> None:
    np.savez(path, source_tokens=np.array(["a"]))
    with pytest.raises(UserError, match="encoder_self, decoder_self, cross"):
        load_npz(path)


def test_files_of_other_kinds_are_told_apart_from_traces(path: Path, tmp_path: Path) -> None:
    array = tmp_path / "array.npy"
    np.save(array, np.zeros(3))
    path.write_bytes(b"\x00not a zip")
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    for file in (array, path, empty):
        with pytest.raises(UserError, match="is not a trace"):
            load_npz(file)
    with pytest.raises(UserError, match=r"nowhere\.npz does not exist"):
        load_npz(tmp_path / "nowhere.npz")
    with pytest.raises(UserError, match="is a folder, not a file"):
        load_npz(tmp_path)


def _cut(data: bytearray, random: Random) -> bytearray:
    return data[: random.randrange(len(data))]


def _flip(data: bytearray, random: Random) -> bytearray:
    for _ in range(random.randint(1, 4)):
        data[random.randrange(len(data))] = random.randrange(256)
    return data


@pytest.mark.parametrize("damage", [_cut, _flip])
def test_damage_is_one_sentence_or_harmless(
    path: Path, damage: Callable[[bytearray, Random], bytearray]
) -> None:
    save_npz(trace(), path)
    data, random = path.read_bytes(), Random(0)
    refused = 0
    for _ in range(200):
        path.write_bytes(damage(bytearray(data), random))
        try:
            load_npz(path)
        except UserError:
            refused += 1
    assert refused > 100


@pytest.mark.usefixtures("permissions")
def test_a_folder_that_may_not_be_written_is_the_users_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="Could not write"):
        save_npz(trace(), tmp_path / "a.npz")


def test_saving_into_a_missing_folder_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Could not write"):
        save_npz(trace(), tmp_path / "nowhere" / "a.npz")


def _foreign(path: Path, source: list[str], target: list[str], **more: Any) -> Trace:
    """A file of another program, read."""
    maps = {
        name: np.full((1, 1, len(queries), len(keys)), 1 / len(keys))
        for name, queries, keys in (("encoder_self", source, source), ("cross", target, source))
    }
    np.savez(path, source_tokens=source, target_tokens=target, **maps, **more)
    return load_npz(path)


def test_a_side_that_shows_no_mark_is_read_as_the_other(path: Path) -> None:
    loaded = _foreign(path, ["play", "ing"], ["Ġspie", "len"])
    assert [token.piece for token in loaded.source_tokens] == ["play", "ing"]
    assert loaded.translation == "spielen"


def test_each_side_is_read_by_its_own_mark(path: Path) -> None:
    """A BERT that encodes and a GPT-2 that decodes."""
    loaded = _foreign(path, ["play", "##ing"], ["j", "oue", "ÃĢ", "Ġla"])
    assert [token.piece for token in loaded.source_tokens] == ["▁play", "ing"]
    assert [token.piece for token in loaded.target_tokens] == ["j", "oue", "À", "▁la"]


def test_the_file_can_say_how_words_are_marked(path: Path) -> None:
    loaded = _foreign(path, ["un", "like", "ly"], ["a"], word_mark="Ġ")
    assert loaded.text == "unlikely"
    with pytest.raises(UserError, match=r"word_mark is '%'; expected one of ▁, Ġ, ##, @@, </w>\."):
        _foreign(path, ["a"], ["b"], word_mark="%")


def test_pieces_without_a_mark_survive_being_saved_again(path: Path) -> None:
    loaded = _foreign(path, ["æĹ¥", "æľ", "¬"], ["caf", "Ã©"])
    save_npz(loaded, path)
    again = load_npz(path)
    assert again.source_tokens == loaded.source_tokens
    assert again.target_tokens == loaded.target_tokens
    assert (again.text, again.translation) == ("日本", "café")


def test_pieces_without_marks_are_joined_by_the_text(tmp_path: Path) -> None:
    pieces = ["un", "bel", "iev", "able", ",", "he", "said"]
    file = {"source_tokens": pieces, "encoder_self": np.full((1, 1, 7, 7), 1 / 7)}
    np.savez(tmp_path / "text.npz", **file, text="unbelievable, he said")
    trace = load_npz(tmp_path / "text.npz")
    assert [token.piece for token in trace.source_tokens] == [
        *("▁un", "bel", "iev", "able", ",", "▁he", "▁said")
    ]
    np.savez(tmp_path / "alone.npz", **file)
    assert load_npz(tmp_path / "alone.npz").text == "un bel iev able , he said"


def test_a_decoder_without_marks_is_joined_by_its_text(tmp_path: Path) -> None:
    causal = np.tril(np.ones((1, 1, 3, 3)))
    np.savez(
        tmp_path / "a.npz",
        target_tokens=["un", "able", "now"],
        decoder_self=causal / causal.sum(axis=-1, keepdims=True),
        text="unable now",
    )
    trace = load_npz(tmp_path / "a.npz")
    assert [token.piece for token in trace.target_tokens] == ["▁un", "able", "▁now"]
