from itertools import combinations

import pytest
from PySide6.QtCore import QPointF, QRectF

from core.analysis.boxes import boxes
from core.config import ModelConfig
from core.heads import AttentionKind
from transformer_viz.architecture.diagram import Diagram, block_name, kind_of, lay_out_diagram
from transformer_viz.architecture.inside import open_sublayer

BASE = ModelConfig(vocab_size=37_000)
PRE = ModelConfig(vocab_size=100, norm="pre", encoder_layers=2, decoder_layers=4, positions="none")
DEEP = ModelConfig(vocab_size=100, encoder_layers=12, decoder_layers=1, top_norm=True)
SHAPES = pytest.mark.parametrize("config", [BASE, PRE, DEEP], ids=["base", "pre", "deep"])


def diagram(
    config: ModelConfig, layer: int = 0, inside: str = "encoder.0.self_attention"
) -> Diagram:
    return lay_out_diagram(config, layer, inside, 1.0, open_sublayer(config, inside, 1.0))


@SHAPES
@pytest.mark.parametrize("inside", ["decoder.0.cross_attention", "encoder.0.feed_forward"])
def test_boxes_lie_beside_each_other_and_within_the_picture(
    config: ModelConfig, inside: str
) -> None:
    for layer in (0, max(config.encoder_layers, config.decoder_layers) - 1):
        drawn = diagram(config, layer, inside)
        whole = QRectF(QPointF(0, 0), drawn.size)
        solid = [node for node in drawn.nodes.values() if not node.frame]
        for one, other in combinations(solid, 2):
            shared = one.rect.intersected(other.rect)
            assert shared.width() * shared.height() == pytest.approx(0), (one.name, other.name)
        assert all(whole.contains(node.rect) for node in drawn.nodes.values())
        assert whole.contains(drawn.inside_frame)


@SHAPES
def test_every_arrow_ends_on_the_edge_of_the_box_that_reads(config: ModelConfig) -> None:
    drawn = diagram(config, 0, "decoder.0.self_attention")
    for edge in drawn.edges:
        rect, end = drawn.nodes[edge.target].rect, edge.points[-1]
        grown = rect.adjusted(-0.01, -0.01, 0.01, 0.01)
        assert grown.contains(end), edge
        assert not rect.adjusted(0.01, 0.01, -0.01, -0.01).contains(end), edge
        assert edge.source in drawn.nodes


@SHAPES
def test_all_boxes_with_parameters_can_be_reached(config: ModelConfig) -> None:
    seen: set[str] = set()
    for layer in range(max(config.encoder_layers, config.decoder_layers)):
        seen |= set(diagram(config, layer).nodes)
        for stack, parts in (
            ("encoder", ("self_attention", "feed_forward")),
            ("decoder", ("self_attention", "cross_attention", "feed_forward")),
        ):
            for part in parts:
                seen |= set(open_sublayer(config, f"{stack}.{layer}.{part}", 1.0).nodes)
    counted = {box.name for box in boxes(config).every()}
    assert counted - seen == {"model", "positions", "encoder", "decoder"}


def test_a_layer_of_the_paper_is_in_the_order_of_the_paper() -> None:
    drawn = diagram(BASE, 2, "decoder.2.self_attention")
    inner = [n for n in drawn.nodes.values() if n.name.startswith("decoder.2.") and n.column == 1]
    upwards = sorted(inner, key=lambda node: -node.rect.center().y())
    names = [node.name.removeprefix("decoder.2.") for node in upwards]
    assert names == [
        *("self_attention", "self_attention_residual.add", "self_attention_residual.norm"),
        *("cross_attention", "cross_attention_residual.add", "cross_attention_residual.norm"),
        *("feed_forward", "feed_forward_residual.add", "feed_forward_residual.norm"),
    ]
    assert drawn.nodes["decoder.2.self_attention"].title.startswith("Masked")
    unmasked = diagram(ModelConfig(vocab_size=100, decoder_mask=False))
    assert not unmasked.nodes["decoder.0.self_attention"].title.startswith("Masked")


def test_the_norm_of_a_pre_norm_model_is_on_the_branch_alone() -> None:
    drawn = diagram(PRE)
    feeding = {
        (edge.source, edge.target) for edge in drawn.edges if edge.target.startswith("encoder.0")
    }
    first = "encoder.0.self_attention"
    assert ("source_embedding", f"{first}_residual.norm") in feeding
    assert (f"{first}_residual.norm", first) in feeding
    assert ("source_embedding", f"{first}_residual.add") in feeding
    assert ("encoder_norm", "decoder.3") in {(e.source, e.target) for e in drawn.edges}


def test_every_sum_has_two_terms() -> None:
    for config in (BASE, PRE):
        drawn = diagram(config)
        for name in drawn.nodes:
            if name.endswith(".add"):
                assert len({e.source for e in drawn.edges if e.target == name}) == 2


def test_the_way_to_a_box_is_all_that_it_depends_on_and_nothing_else() -> None:
    drawn = diagram(BASE, 1, "decoder.1.cross_attention")
    way = drawn.way_to("decoder.1.cross_attention")
    assert {f"encoder.{layer}" for layer in (0, 2, 3, 4, 5)} <= way
    assert {"source", "target", "decoder.0", "decoder.1.self_attention_residual.norm"} <= way
    assert not way & {"decoder.1.cross_attention_residual.add", "decoder.2", "probabilities"}
    inner = drawn.way_to("decoder.1.cross_attention.softmax")
    assert way <= inner
    assert "decoder.1.cross_attention.query" in inner
    assert "decoder.1.cross_attention.value" not in inner
    assert not any(name.startswith(("target", "decoder")) for name in drawn.way_to("encoder.5"))
    open_layer = drawn.way_to("encoder.1")
    assert "encoder.1.feed_forward_residual.norm" in open_layer
    assert "encoder.2" not in open_layer


def test_walking_up_passes_every_box_of_a_tower_and_back_down_again() -> None:
    drawn = diagram(BASE, 3)
    way = ["target"]
    while (above := drawn.beside(way[-1], 0, 1)) != way[-1]:
        way.append(above)
    assert way[-1] == "probabilities"
    assert set(way) == {n.name for n in drawn.nodes.values() if n.column == 1 and not n.frame}
    assert [drawn.beside(name, 0, -1) for name in way[1:]] == way[:-1]
    across = drawn.beside("encoder.3.self_attention", 1, 0)
    assert drawn.nodes[across].column == 1
    assert drawn.nodes[drawn.beside(across, -1, 0)].column == 0
    inside = "encoder.0.self_attention"
    assert drawn.beside(f"{inside}.query", 1, 0) == f"{inside}.key"
    assert drawn.beside(f"{inside}.value", 1, 0) == f"{inside}.value"


def test_a_point_finds_the_innermost_box() -> None:
    drawn = diagram(BASE)
    box = drawn.nodes["encoder.0.feed_forward"]
    assert drawn.node_at(box.rect.center()) is box
    frame = drawn.nodes["encoder.0"]
    assert frame.frame
    assert drawn.node_at(frame.rect.topLeft() + QPointF(3, 3)) is frame
    assert drawn.node_at(QPointF(-5, -5)) is None


def test_names_and_kinds_are_each_others_inverse() -> None:
    for kind in AttentionKind:
        assert kind_of(block_name(kind, 4)) == (kind, 4)
        assert kind_of(f"{block_name(kind, 4)}.softmax") == (kind, 4)
    assert kind_of("encoder.4.feed_forward.inner") is None
    assert kind_of("encoder_norm") is None
    assert kind_of("encoder.4") is None
