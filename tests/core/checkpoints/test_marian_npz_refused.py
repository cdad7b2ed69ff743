"""What is no model for us, and what is damaged: one sentence that says why."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.checkpoints.marian_npz import import_marian_npz
from core.checkpoints.opening import open_model
from core.errors import UserError
from tests.core.checkpoints.npz_models import NpzModel, options_array, random_npz

OTHER_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "recurrent": ({"type": "s2s"}, "its architecture is s2s, not transformer"),
    "unnamed": ({"type": None}, "its architecture is none"),
    "several encoders": ({"type": "multi-transformer"}, "several sources at once"),
    "several sources": ({"dim-vocabs": [39, 39, 39]}, "several sources at once"),
    "one vocabulary": ({"dim-vocabs": [40]}, "lacks the sizes of the two vocabularies"),
    "AAN": (
        {"transformer-decoder-autoreg": "average-attention"},
        "averages over the previous words",
    ),
    "SSRU": ({"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru"}, "recurrent cell"),
    "another decoder": ({"transformer-decoder-autoreg": "fnet"}, "its decoder has 'fnet'"),
    "tied layers": ({"transformer-tied-layers": [1, 1, 2]}, "layers are shared"),
    "from the right": ({"right-left": True}, "from right to left"),
    "no projection": ({"transformer-no-projection": True}, "transformer-no-projection"),
    "pooled": ({"transformer-pool": True}, "transformer-pool"),
    "factored": ({"lemma-dim-emb": 32}, "factored"),
    "concatenated factors": ({"factors-dim-emb": 8}, "factored"),
    "universal": ({"ulr": True}, "universal"),
    "Marian's gelu": ({"transformer-ffn-activation": "gelu"}, "activation is Marian's gelu"),
    "three layers": ({"transformer-ffn-depth": 3}, "do not have two layers"),
    "a deeper decoder network": ({"transformer-decoder-ffn-depth": 1}, "do not have two layers"),
    "highway": ({"transformer-postprocess": "dhn"}, "'', transformer-postprocess 'hn'"),
    "RMS norms": ({"transformer-postprocess": "dar"}, "unsupported order"),
    "two norms": ({"transformer-preprocess": "n"}, "unsupported order"),
    "a sum on top": ({"transformer-postprocess-top": "an"}, "end with more than a norm"),
    "normed embeddings": ({"transformer-postprocess-emb": "nd"}, "embeddings are normalised"),
    "old pre-norm": (
        {
            "transformer-preprocess": "n",
            "transformer-postprocess": "da",
            "transformer-postprocess-top": None,
        },
        "before 1.10",
    ),
    "no width": ({"dim-emb": None}, "lack a whole number for dim-emb"),
    "a width in words": ({"dim-emb": "wide"}, "lack a whole number for dim-emb"),
    "no layers": ({"enc-depth": 0}, "encoder_layers = 0 is not possible"),
    "odd heads": ({"transformer-heads": 5}, "encoder_heads = 5 is not possible"),
    "another width": ({"dim-emb": 32}, "has shape"),
    "a layer less": ({"dec-depth": 2}, r"26 tensors.*decoder_l3_context_"),
    "a layer more": ({"enc-depth": 3}, r"lacks 16 tensors: encoder_l3_ffn_W1"),
    "another vocabulary": ({"dim-vocabs": [40, 40]}, "has 39 pieces, but the model has 40"),
}


@pytest.mark.parametrize(("changes", "reason"), OTHER_OPTIONS.values(), ids=OTHER_OPTIONS)
def test_what_our_model_cannot_compute_is_refused_with_its_reason(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    npz = random_npz()
    npz.options |= changes
    path = npz.write(tmp_path)
    with pytest.raises(UserError, match=reason) as raised:
        import_marian_npz(path)
    assert is_one_sentence(raised.value, path)


def is_one_sentence(error: UserError, path: Path) -> bool:
    text = str(error)
    return text.startswith(str(path.parent)) and text.endswith(".") and "\n" not in text


def quantised(npz: NpzModel) -> None:
    matrix = npz.arrays["encoder_l1_self_Wq"]
    npz.arrays["encoder_l1_self_Wq"] = np.round(127 * matrix).astype(np.int8)


def multipliers(npz: NpzModel) -> None:
    npz.arrays["encoder_l1_self_Wq_QuantMultA"] = np.ones((1, 1), np.float32)


def doubles(npz: NpzModel) -> None:
    npz.arrays["Wemb"] = npz.arrays["Wemb"].astype(np.float64)


def second_encoder(npz: NpzModel) -> None:
    for name in [name for name in npz.arrays if "decoder_l1_context_" in name]:
        other = name.replace("_context_", "_context_enc2_")
        npz.arrays[other] = npz.arrays[name]


def missing(npz: NpzModel) -> None:
    del npz.arrays["decoder_l1_context_Wo_ln_scale"]


def renamed(npz: NpzModel) -> None:
    npz.arrays["encoder_l1_self_Wr"] = npz.arrays.pop("encoder_l1_self_Wq")


def cut(npz: NpzModel) -> None:
    npz.arrays["encoder_l2_ffn_W1"] = npz.arrays["encoder_l2_ffn_W1"][:, :-1].copy()


def smaller_bias(npz: NpzModel) -> None:
    npz.arrays["decoder_ff_logit_out_b"] = npz.arrays["decoder_ff_logit_out_b"][:, 1:].copy()


def scalar(npz: NpzModel) -> None:
    npz.arrays["Wemb"] = np.float32(1.0).reshape(())


def scalar_positions(npz: NpzModel) -> None:
    npz.arrays["Wpos"] = np.float32(1.0).reshape(())


def untied_output(npz: NpzModel) -> None:
    npz.arrays["decoder_ff_logit_out_Wt"] = npz.arrays["Wemb"]


OTHER_ARRAYS: dict[Callable[[NpzModel], None], str] = {
    quantised: r"quantised \(encoder_l1_self_Wq is int8\)",
    multipliers: "quantised",
    doubles: "Wemb has type float64",
    second_encoder: r"has 10 tensors.*context_enc2_",
    missing: r"lacks 1 tensor: decoder_l1_context_Wo_ln_scale",
    renamed: r"lacks 1 tensor: encoder_l1_self_Wq",
    cut: "encoder_l2_ffn_W1 has shape",
    smaller_bias: "decoder_ff_logit_out_b has shape",
    scalar: r"Wemb has shape \[\], not two dimensions",
    scalar_positions: r"Wpos has shape \[\]",
    untied_output: r"has 1 tensor.*decoder_ff_logit_out_Wt",
}


@pytest.mark.parametrize(
    ("change", "reason"), OTHER_ARRAYS.items(), ids=lambda one: getattr(one, "__name__", "")
)
def test_arrays_that_are_not_exactly_the_models_are_named(
    tmp_path: Path, change: Callable[[NpzModel], None], reason: str
) -> None:
    npz = random_npz()
    change(npz)
    path = npz.write(tmp_path)
    with pytest.raises(UserError, match=reason) as raised:
        import_marian_npz(path)
    assert is_one_sentence(raised.value, path)


# Vocabularies


def no_file(npz: NpzModel) -> None:
    del npz.files["opus.vocab.yml"]


def no_segmentation(npz: NpzModel) -> None:
    del npz.files["target.spm"]


def codes_of_another_program(npz: NpzModel) -> None:
    npz.files["source.bpe"] = npz.files.pop("source.spm")


def no_decoder_and_two_vocabularies(npz: NpzModel) -> None:
    npz.decoder = None
    npz.files["other.vocab.yml"] = npz.files["opus.vocab.yml"]


def nothing_beside(npz: NpzModel) -> None:
    npz.decoder, npz.files = None, {}


def vocabularies(*names: str) -> Callable[[NpzModel], None]:
    def change(npz: NpzModel) -> None:
        assert npz.decoder is not None
        npz.decoder["vocabs"] = list(names)
        npz.files |= {name: b"" for name in names if name not in npz.files}

    return change


def vocabulary(edit: Callable[[str], str]) -> Callable[[NpzModel], None]:
    def change(npz: NpzModel) -> None:
        text = npz.files["opus.vocab.yml"].decode()
        npz.files["opus.vocab.yml"] = edit(text).encode()

    return change


def file(name: str, content: bytes) -> Callable[[NpzModel], None]:
    def change(npz: NpzModel) -> None:
        npz.files[name] = content

    return change


def damaged_spm_vocabulary(npz: NpzModel) -> None:
    vocabularies("vocab.spm", "vocab.spm")(npz)
    npz.files["vocab.spm"] = b"\x08\x96\x01nothing"


def specials_in_other_places(npz: NpzModel) -> None:
    lines = npz.files["opus.vocab.yml"].decode().splitlines()
    lines[0], lines[2] = lines[0].replace(": 0", ": 2"), lines[2].replace(": 2", ": 0")
    vocabularies("opus.vocab.yml", "turned.vocab.yml")(npz)
    npz.files["turned.vocab.yml"] = "\n".join(lines).encode()


OTHER_VOCABULARIES: dict[str, tuple[Callable[[NpzModel], None], str]] = {
    "missing": (no_file, "opus.vocab.yml"),
    "not a SentencePiece model": (no_segmentation, "target.spm"),
    "another segmentation": (codes_of_another_program, "subword-nmt"),
    "it is open which": (no_decoder_and_two_vocabularies, r"it has 2\)"),
    "nothing beside the model": (
        nothing_beside,
        r"exactly one vocab.yml or vocab.spm file \(it has none\)",
    ),
    "factored": (vocabularies("a.fsv", "a.fsv"), "factored"),
    "a list of words": (vocabularies("a.txt", "a.txt"), "of an unsupported kind"),
    "one alone": (vocabularies("opus.vocab.yml"), "needs two vocabularies"),
    "three": (vocabularies(*["opus.vocab.yml"] * 3), "needs two vocabularies"),
    "an id twice": (vocabulary(lambda text: text.replace(": 7\n", ": 8\n")), "the same id, 8"),
    "a piece twice": (
        vocabulary(lambda text: text + text.splitlines()[5].replace(": 5", ": 39")),
        "no piece for the id 5",
    ),
    "a gap": (vocabulary(lambda text: text.replace(": 38\n", ": 41\n")), "the id 38"),
    "a piece without a number": (vocabulary(lambda text: text + "x: y\n"), "for the piece 'x'"),
    "a number without end": (vocabulary(lambda text: text + "x: " + "9" * 5000), "piece 'x'"),
    "no end token": (vocabulary(lambda text: text.replace("</s>", "<eos>")), "lacks </s>"),
    "no unknown token": (vocabulary(lambda text: text.replace("<unk>", "UNK")), "lacks <unk>"),
    "padding of its own": (
        vocabulary(lambda text: text.replace(">>nds<<", "<pad>")),
        "already has a piece <pad>",
    ),
    "specials in other places": (specials_in_other_places, "</s> has the id 0 .* but 2"),
    "a piece less": (
        vocabulary(lambda text: text.replace('">>nds<<": 38\n', "")),
        "has 38 pieces, but the model has 39",
    ),
    "no YAML": (file("opus.vocab.yml", b"a: [b"), "opus.vocab.yml is damaged"),
    "no text": (file("opus.vocab.yml", b"\xff\xfe\x00"), "opus.vocab.yml is damaged"),
    "nested without end": (file("opus.vocab.yml", b"[" * 100_000), "opus.vocab.yml is damaged"),
    "a list": (file("opus.vocab.yml", b"- a\n- b\n"), "opus.vocab.yml is damaged"),
    "empty": (file("opus.vocab.yml", b""), "opus.vocab.yml is damaged"),
    "no SentencePiece": (file("source.spm", b"\x08\x96\x01x"), "is not a SentencePiece model"),
    "no SentencePiece vocabulary": (damaged_spm_vocabulary, "not a SentencePiece model"),
}


@pytest.mark.parametrize(("change", "reason"), OTHER_VOCABULARIES.values(), ids=OTHER_VOCABULARIES)
def test_a_vocabulary_that_is_not_the_models_is_said(
    tmp_path: Path, change: Callable[[NpzModel], None], reason: str
) -> None:
    npz = random_npz()
    assert npz.options["dim-vocabs"] == [39, 39]
    change(npz)
    path = npz.write(tmp_path)
    with pytest.raises(UserError, match=reason) as raised:
        import_marian_npz(path)
    assert is_one_sentence(raised.value, path)


def test_two_vocabularies_need_two_embeddings(tmp_path: Path) -> None:
    npz = random_npz(separate=True)
    with pytest.raises(UserError, match="one embedding is for vocabularies of"):
        import_marian_npz(npz.write(tmp_path))


@pytest.mark.parametrize(
    ("name", "value"), [("beam-size", "many"), ("normalize", "x"), ("normalize", "nan")]
)
def test_a_search_that_is_none(tmp_path: Path, name: str, value: str) -> None:
    npz = random_npz()
    assert npz.decoder is not None
    npz.decoder[name] = value
    with pytest.raises(UserError, match=f"lack a (whole )?number for {name}"):
        import_marian_npz(npz.write(tmp_path))


# Files


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    """Neither a tag of YAML nor a pickled array becomes anything but a refusal."""
    trap = tmp_path / "sprung"
    npz = random_npz()
    bomb = f"!!python/object/apply:os.mkdir ['{trap}']".encode()
    for name in ("opus.vocab.yml", "decoder.yml"):
        path = npz.write(tmp_path / name)
        (path.parent / name).write_bytes(bomb)
        with pytest.raises(UserError, match="damaged"):
            import_marian_npz(path)
    path = npz.write(tmp_path / "model")
    options = np.frombuffer(bomb, np.int8)
    np.savez(path, **npz.arrays, **{"special:model.yml": options})
    with pytest.raises(UserError, match="damaged"):
        import_marian_npz(path)
    arrays = npz.arrays | {"Wemb": np.array([Trap(str(trap))], dtype=object)}
    np.savez(path, **arrays, **{"special:model.yml": options_array(npz.options)})
    with pytest.raises(UserError, match="Wemb cannot be read; it is damaged"):
        import_marian_npz(path)
    assert not trap.exists()


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (self.path,)


def test_a_trace_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "trace.npz"
    np.savez(path, source_tokens=np.array(["a"]), encoder_self=np.ones((1, 1, 1, 1)))
    with pytest.raises(UserError, match=r"lacks special:model\.yml, so it is not a Marian model"):
        open_model(path)


def test_a_folder_with_several_models_or_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"contains no \.npz file"):
        import_marian_npz(tmp_path)
    npz = random_npz()
    assert npz.decoder is not None
    npz.decoder["models"] = ["model.npz", "other.npz"]
    path = npz.write(tmp_path)
    (tmp_path / "other.npz").write_bytes(path.read_bytes())
    with pytest.raises(UserError, match=r"contains model\.npz, other\.npz; open"):
        import_marian_npz(tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.npz does not exist"):
        open_model(tmp_path / "none.npz")


@pytest.mark.parametrize(
    "content", [b"", b"PK\x05\x06" + bytes(18), b"\x93NUMPY", b"PK\x03\x04" + bytes(200)], ids=repr
)
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"is not a Marian model"):
        open_model(path)


def test_options_are_not_unpacked_to_any_size(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "model.npz", **{"special:model.yml": np.zeros(10**7, np.int8)})
    with pytest.raises(UserError, match=r"special:model\.yml is damaged: it is much too long"):
        open_model(tmp_path / "model.npz")


def test_a_shape_that_is_larger_than_its_file_takes_no_memory(tmp_path: Path) -> None:
    path = random_npz().write(tmp_path)
    content = path.read_bytes()
    shape = b"'shape': (39, 16), }"
    assert content.count(shape) == 1
    path.write_bytes(content.replace(shape, b"'shape': (9**9, 9),}"[: len(shape)]))
    with pytest.raises(UserError, match="cannot be read; it is damaged"):
        import_marian_npz(path)


@pytest.mark.parametrize(
    "header",
    [b"{'descr': '<f4', 'fortran_order': False, 'shape': (39, (", b"{'descr': 1}", b"[]", b"\xff"],
)
def test_an_array_without_a_proper_header(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, **{"special:model.yml": options_array(random_npz().options)})
    with zipfile.ZipFile(path, "a") as archive:
        length = len(header).to_bytes(2, "little")
        archive.writestr("Wemb.npy", b"\x93NUMPY\x01\x00" + length + header)
    with pytest.raises(UserError, match="Wemb cannot be read; it is damaged"):
        import_marian_npz(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_npz(enc_depth=1, dec_depth=1).write(tmp_path_factory.mktemp("whole"))


@settings(max_examples=60)
@given(data=st.data())
def test_a_file_cut_anywhere_is_the_users_error(whole: Path, data: st.DataObject) -> None:
    content = whole.read_bytes()
    path = whole.with_name("cut.npz")
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(UserError):
        import_marian_npz(path)


@settings(max_examples=60)
@given(data=st.data())
def test_a_file_with_any_byte_changed_ends_in_one_sentence_or_a_model(
    whole: Path, data: st.DataObject
) -> None:
    spoilt = bytearray(whole.read_bytes())
    end = data.draw(st.sampled_from((2_000, len(spoilt))))
    spoilt[-data.draw(st.integers(1, end))] = data.draw(st.integers(0, 255))
    path = whole.with_name("spoilt.npz")
    path.write_bytes(spoilt)
    with suppress(UserError):
        import_marian_npz(path)


def test_a_model_outlives_its_files(tmp_path: Path) -> None:
    npz = random_npz()
    checkpoint = import_marian_npz(npz.write(tmp_path))
    before = {name: one.clone() for name, one in checkpoint.model.named_parameters()}
    for file in tmp_path.iterdir():
        file.write_bytes(b"")
        file.unlink()
    assert all((before[name] == one).all() for name, one in checkpoint.model.named_parameters())
    assert checkpoint.tokenizer.encode("The animal slept.")
