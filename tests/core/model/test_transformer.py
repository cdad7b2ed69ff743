from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from core.config import ModelConfig
from core.model.attention import attention_weights
from core.model.dropout import Dropout
from core.model.layers import FeedForward, Residual
from core.model.recording import Recording
from core.model.transformer import Transformer
from tests.core.model.small import PAD, padded, random_ids, small_config, small_transformer

# The rows of the paper's Table 3 at a vocabulary of 37 000: three embeddings tied, biases in all
# projections, no norm after the stacks.
PARAMETERS: list[tuple[dict[str, Any], int]] = [
    ({}, 63_082_496),
    ({"encoder_heads": 1, "decoder_heads": 1}, 63_082_496),
    ({"encoder_heads": 4, "decoder_heads": 4}, 63_082_496),
    ({"encoder_heads": 16, "decoder_heads": 16}, 63_082_496),
    ({"encoder_heads": 32, "decoder_heads": 32}, 63_082_496),
    ({"d_k": 16, "d_v": 64}, 55_990_784),
    ({"d_k": 32, "d_v": 64}, 58_354_688),
    ({"encoder_layers": 2, "decoder_layers": 2}, 33_656_832),
    ({"encoder_layers": 4, "decoder_layers": 4}, 48_369_664),
    ({"encoder_layers": 8, "decoder_layers": 8}, 77_795_328),
    ({"d_model": 256, "d_k": 32, "d_v": 32}, 26_834_944),
    ({"d_model": 1024, "d_k": 128, "d_v": 128}, 163_889_152),
    ({"encoder_d_ff": 1024, "decoder_d_ff": 1024}, 50_487_296),
    ({"encoder_d_ff": 4096, "decoder_d_ff": 4096}, 88_272_896),
    ({"positions": "learned", "max_positions": 1024}, 63_082_496 + 1024 * 512),
    (
        {
            **{"d_model": 1024, "encoder_d_ff": 4096, "decoder_d_ff": 4096},
            **{"encoder_heads": 16, "decoder_heads": 16},
        },
        214_245_376,
    ),
]


@pytest.mark.parametrize(("changes", "expected"), PARAMETERS, ids=lambda value: str(value))
def test_exact_parameter_counts(changes: dict[str, Any], expected: int) -> None:
    with torch.device("meta"):
        model = Transformer(ModelConfig(vocab_size=37_000, **changes))
    assert model.parameter_count() == expected


@pytest.mark.parametrize(
    ("shared", "matrices"), [("all", 1), ("target", 2), ("inputs", 2), ("none", 3)]
)
def test_shared_embeddings_are_one_parameter(shared: str, matrices: int) -> None:
    model = small_transformer(shared_embeddings=shared)
    embeddings = (model.source_embedding, model.target_embedding, model.output_embedding)
    assert len({id(embedding.weight) for embedding in embeddings}) == matrices
    output_tied = model.target_embedding.weight is model.output_embedding.weight
    inputs_tied = model.target_embedding.weight is model.source_embedding.weight
    assert output_tied == (shared in ("all", "target"))
    assert inputs_tied == (shared in ("all", "inputs"))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 5),
    position=st.integers(0, 19),
    replacement=st.integers(0, 22),
    norm=st.sampled_from(["post", "pre"]),
)
def test_a_later_target_token_changes_no_earlier_logit(
    seed: int, position: int, replacement: int, norm: str
) -> None:
    """Causality, to the bit."""
    model = small_transformer(seed, norm=norm)
    source, target_in = random_ids(2, 9, seed=seed), random_ids(2, 20, seed=seed + 1)
    changed = target_in.clone()
    changed[:, position] = replacement
    with torch.no_grad():
        before, after = model(source, target_in), model(source, changed)
    assert torch.equal(before[:, :position], after[:, :position])
    if not torch.equal(target_in, changed):
        assert not torch.equal(before[:, position:], after[:, position:])


@pytest.mark.parametrize("position", [64, 130, 199])
def test_causality_holds_across_the_blocks_of_the_fused_kernel(position: int) -> None:
    model = small_transformer()
    source, target_in = random_ids(1, 9), random_ids(1, 200, seed=1)
    changed = target_in.clone()
    changed[:, position:] = 4 + (changed[:, position:] - 3) % 19
    with torch.no_grad():
        before, after = model(source, target_in), model(source, changed)
    assert torch.equal(before[:, :position], after[:, :position])


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 5),
    length=st.integers(1, 8),
    source_padding=st.integers(0, 12),
    target_padding=st.integers(0, 5),
)
def test_padding_changes_nothing(
    seed: int, length: int, source_padding: int, target_padding: int
) -> None:
    model = small_transformer(seed)
    source, target_in = random_ids(1, length, seed=seed), random_ids(1, 6, seed=seed + 1)
    longer_source = padded(source, length, source_padding)
    longer_target = padded(target_in, 6, target_padding)
    with torch.no_grad():
        memory, longer_memory = model.encode(source), model.encode(longer_source)
        logits = model(source, target_in)
        longer_logits = model(longer_source, longer_target)
    close = {"atol": 1e-6, "rtol": 1e-5}
    torch.testing.assert_close(longer_memory[:, :length], memory, **close)
    torch.testing.assert_close(longer_logits[:, :6], logits, **close)


def test_what_the_decoder_sees_at_padding_is_never_used() -> None:
    """Any memory at padded source positions gives the same logits, to the bit."""
    model = small_transformer()
    source, target_in = padded(random_ids(2, 7), 4, 1), random_ids(2, 5, seed=1)
    with torch.no_grad():
        memory = model.encode(source)
        spoilt = memory.masked_fill((source == PAD)[..., None], 1e3)
        expected = model.decode(target_in, memory, source)
        assert torch.equal(model.decode(target_in, spoilt, source), expected)


def test_a_sentence_alone_gives_what_it_gives_in_a_batch() -> None:
    model = small_transformer()
    source, target_in = random_ids(5, 8), random_ids(5, 6, seed=1)
    for sentence, length in enumerate((3, 8, 1, 5, 7)):
        source[sentence, length:] = PAD
    with torch.no_grad():
        together = model(source, target_in)
        for i in range(5):
            alone = model(source[i : i + 1][source[i : i + 1] != PAD][None], target_in[i : i + 1])
            torch.testing.assert_close(alone[0], together[i], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_recording_changes_no_output(norm: str) -> None:
    model = small_transformer(norm=norm)
    source, target_in = padded(random_ids(2, 7), 4, 1), random_ids(2, 5, seed=1)
    recording = Recording()
    with torch.no_grad():
        memory = model.encode(source)
        assert torch.equal(model.encode(source, recording), memory)
        hidden = model.decode(target_in, memory, source)
        assert torch.equal(model.decode(target_in, memory, source, recording), hidden)
    assert [len(recording.encoder_self), len(recording.decoder_self)] == [2, 2]
    assert len(recording.cross) == 2


def test_a_recording_holds_projections_per_head_and_no_maps() -> None:
    model = small_transformer(d_k=5, d_v=3, encoder_heads=2, decoder_heads=4)
    source, target_in = random_ids(2, 7), random_ids(2, 6, seed=1)
    recording = Recording()
    model.decode(target_in, model.encode(source, recording), source, recording)
    for one, heads, queries, keys in (
        (recording.encoder_self[0], 2, 7, 7),
        (recording.decoder_self[0], 4, 6, 6),
        (recording.cross[0], 4, 6, 7),
    ):
        assert one.query.shape == (2, heads, queries, 5)
        assert one.key.shape == (2, heads, keys, 5)
        assert one.value.shape == (2, heads, keys, 3)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_training_without_dropout_computes_what_evaluation_does(norm: str) -> None:
    model = small_transformer(norm=norm, dropout=0.0)
    source, target_in = padded(random_ids(2, 7), 4, 1), random_ids(2, 5, seed=1)
    trained = model.train()(source, target_in)
    # Training may lay its products out in another way, and so round otherwise.
    torch.testing.assert_close(model.eval()(source, target_in), trained, atol=1e-5, rtol=1e-5)
    with torch.inference_mode():
        torch.testing.assert_close(model(source, target_in), trained, atol=1e-5, rtol=1e-5)


def test_without_positions_a_permuted_input_permutes_rows_and_outputs() -> None:
    model = small_transformer().double()
    model.positions.table.zero_()
    source = random_ids(1, 8)
    order = torch.tensor([3, 1, 7, 0, 4, 2, 6, 5])
    recordings = Recording(), Recording()
    with torch.no_grad():
        memory = model.encode(source, recordings[0])
        permuted = model.encode(source[:, order], recordings[1])
    torch.testing.assert_close(permuted, memory[:, order], atol=1e-12, rtol=0)
    for before, after in zip(*(recording.encoder_self for recording in recordings), strict=True):
        rows = attention_weights(before.query, before.key)[:, :, order][..., order]
        torch.testing.assert_close(
            attention_weights(after.query, after.key), rows, atol=1e-12, rtol=0
        )


def test_with_positions_order_matters() -> None:
    model = small_transformer()
    source = random_ids(1, 8)
    with torch.no_grad():
        assert not torch.allclose(
            model.encode(source.flip(1)), model.encode(source).flip(1), atol=1e-2
        )


def test_dropout_sits_on_residuals_and_embeddings_only() -> None:
    model = small_transformer(dropout=0.5).train()
    owners = {
        type(module)
        for module in model.modules()
        if any(isinstance(child, Dropout) for child in module.children())
    }
    assert owners == {Residual, Transformer}
    x = torch.randn(2, 6, 12)
    encoder, decoder = model.encoder[0], model.decoder[0]
    sublayers = {
        "encoder self-attention": lambda: encoder.self_attention(x),
        "decoder self-attention": lambda: decoder.self_attention(x, causal=True),
        "cross-attention": lambda: decoder.cross_attention(x, x, None),
        "feed-forward": lambda: encoder.feed_forward(x),
    }
    for name, sublayer in sublayers.items():
        assert torch.equal(sublayer(), sublayer()), name


def test_dropout_drops_its_share_and_scales_the_rest() -> None:
    torch.manual_seed(0)
    share, count = 0.2, 100_000

    def check(dropped: Tensor) -> None:
        assert dropped.unique().tolist() == pytest.approx([0.0, 1.25], abs=1e-4)
        assert (dropped == 0).float().mean().item() == pytest.approx(share, abs=0.01)

    for norm in ("post", "pre"):
        residual = Residual(small_config(norm=norm, dropout=share)).train()
        residual.norm = nn.Identity()
        check(residual(torch.zeros(count // 12, 12), torch.ones_like))

    model = small_transformer(dropout=share, scale_embedding=False).train()
    with torch.no_grad():
        model.source_embedding.weight.fill_(1.0)
        model.positions.table.zero_()
        embedded: list[Tensor] = []
        model.encoder[0].register_forward_pre_hook(lambda _, inputs: embedded.append(inputs[0]))
        model.encode(random_ids(count // 1200, 100))
    check(embedded[0])


def test_every_parameter_takes_part() -> None:
    for changes in ({}, {"norm": "pre", "shared_embeddings": "none", "output_bias": True}):
        model = small_transformer(positions="learned", **changes)
        model(random_ids(2, 7), random_ids(2, 5, seed=1)).square().sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name


def test_feed_forward_treats_each_position_by_itself() -> None:
    block = FeedForward(6, 9, "relu")
    x = torch.randn(1, 4, 6)
    rows = torch.cat([block(x[:, i : i + 1]) for i in range(4)], dim=1)
    torch.testing.assert_close(block(x), rows)
