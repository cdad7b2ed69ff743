import pytest

from core.config import ModelConfig
from transformer_viz.architecture.box_reading import Reader, where

BASE = Reader(ModelConfig(vocab_size=37_000))
BLOCK = "decoder.2.cross_attention"


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("source", "7 tokens"),
        ("source_embedding", "7 × 512"),
        ("encoder.0", "7 × 512"),
        (BLOCK, "5 × 512"),
        (f"{BLOCK}.query", "8 × 5 × 64"),
        (f"{BLOCK}.key", "8 × 7 × 64"),
        (f"{BLOCK}.value", "8 × 7 × 64"),
        (f"{BLOCK}.softmax", "8 × 5 × 7"),
        ("decoder.2.self_attention.mask", "8 × 5 × 5"),
        ("encoder.2.self_attention.matmul", "8 × 7 × 7"),
        (f"{BLOCK}.attend", "8 × 5 × 64"),
        (f"{BLOCK}.concat", "5 × 512"),
        (f"{BLOCK}_residual.add", "5 × 512"),
        ("decoder.2.feed_forward.inner", "5 × 2,048"),
        ("decoder.2.feed_forward.outer", "5 × 512"),
        ("probabilities", "5 × 37,000"),
    ],
)
def test_the_shape_of_each_box_for_seven_source_and_five_target_tokens(
    name: str, shape: str
) -> None:
    assert BASE.read(name, 7, 5).shape == shape


def test_without_a_sentence_a_shape_has_letters() -> None:
    assert BASE.read("encoder.0", None, None).shape == "n × 512"
    assert BASE.read(f"{BLOCK}.softmax", None, None).shape == "8 × m × n"


def test_the_counts_of_the_papers_base_model() -> None:
    block = BASE.read(BLOCK, 7, 5)
    assert block.parameters == "1,050,624 parameters, 1,048,576 without biases"
    assert block.brief == "5 × 512 · 1,050,624"
    assert BASE.read("encoder.0", 7, 5).parameters.startswith("3,152,384")
    norm = BASE.read("encoder.0.self_attention_residual.norm", 7, 5)
    assert norm.parameters == "1,024 parameters, no biases"
    assert BASE.read(f"{BLOCK}.softmax", 7, 5).parameters == "no parameters"
    assert BASE.read("source_positions", 7, 5).parameters == "no parameters"


def test_a_shared_matrix_is_counted_once_and_says_where() -> None:
    assert "18,944,000" in BASE.read("source_embedding", 7, 5).parameters
    output = BASE.read("output_embedding", 7, 5)
    assert output.parameters == "shares the numbers of the input embedding, where they are counted"
    biased = Reader(ModelConfig(vocab_size=37_000, output_bias=True))
    assert biased.read("output_embedding", 7, 5).parameters.endswith("its own bias has 37,000")
    learned = Reader(ModelConfig(vocab_size=100, positions="learned", max_positions=50))
    assert "25,600 parameters" in learned.read("source_positions", 7, 5).parameters
    assert "encoder positions" in learned.read("target_positions", 7, 5).parameters


def test_pruned_heads_are_in_no_shape_and_no_count() -> None:
    pruned = Reader(
        ModelConfig(vocab_size=100, pruned_heads=("encoder_self.0.1", "encoder_self.0.2"))
    )
    assert pruned.read("encoder.0.self_attention.softmax", 7, 5).shape == "6 × 7 × 7"
    assert pruned.read("encoder.0.self_attention.concat", 7, 5).shape == "7 × 384"
    assert pruned.read("encoder.0.self_attention.query", 7, 5).parameters.startswith("196,992 ")


def test_a_box_says_where_it_is() -> None:
    assert where(f"{BLOCK}.query") == "Decoder, layer 3, cross-attention"
    assert where("encoder.0.feed_forward_residual.norm") == "Encoder, layer 1, feed-forward"
    assert where("encoder.1") == "Encoder, layer 2"
    assert where("source_embedding") == where("encoder_norm") == "Encoder"
    assert where("probabilities") == "Decoder"
