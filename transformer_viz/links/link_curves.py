"""Links as cubics: where they run, and how far a point is from them.

Shapes: N links, S points along each.
"""

import numpy as np

from transformer_viz.drawing.cubics import Floats
from transformer_viz.links.link_choice import Links
from transformer_viz.links.link_layout import SPREAD, THICKEST, LinkLayout, Track
from transformer_viz.state.options import LinksForm

_KAPPA = 4 / 3  # height of a cubic's control points over that of its curve


def curves(layout: LinkLayout, links: Links, series: int) -> Floats:
    """Return each link as the control points of a cubic from its query to its key, [N, 4, 2]. The
    links of one head lie beside those of the next, as far apart as the room of their tokens allows.
    """
    if layout.form is LinksForm.ARCS:
        return _arcs(layout, links, series)
    place = links.series - (series - 1) / 2
    along, across = (1, 0) if layout.vertical else (0, 1)
    points = np.empty((len(links), 4, 2))
    for end, track, tokens in ((0, layout.queries, links.query), (3, layout.keys, links.key)):
        lane = place * _lanes(track, series)[tokens]
        points[:, end, along] = track.middles[tokens] + lane
    points[:, 0, across], points[:, 3, across] = layout.edges
    points[:, 1] = points[:, 0] + (points[:, 3] - points[:, 0]) / 3
    points[:, 2] = points[:, 3] - (points[:, 3] - points[:, 0]) / 3
    return points


def _arcs(layout: LinkLayout, links: Links, series: int) -> Floats:
    """The higher the longer; those of several heads between two tokens lie inside each other."""
    track = layout.queries
    start, end = track.middles[links.query], track.middles[links.key]
    lanes = _lanes(track, series)
    place = links.series - (series - 1) / 2
    outwards = np.where(start >= end, place, -place)
    span = np.abs(links.query - links.key)
    loop = np.where(span == 0, layout.thickness, 0.0)  # a token that looks at itself

    longest = max(1, len(track.starts) - 1)
    height = layout.lift * np.sqrt(np.maximum(span, 0.5) / longest)
    inside = (series - 1 - links.series) * lanes[links.query]
    rise = _KAPPA * np.maximum(height - inside, height / 2)
    back = links.key <= links.query
    foot = np.where(back, *layout.edges)
    top = foot + np.where(back, -rise, rise)

    points = np.empty((len(links), 4, 2))
    points[:, 0, 0] = points[:, 1, 0] = start + outwards * lanes[links.query] + loop
    points[:, 3, 0] = points[:, 2, 0] = end - outwards * lanes[links.key] - loop
    points[:, 0, 1] = points[:, 3, 1] = foot
    points[:, 1, 1] = points[:, 2, 1] = top
    return points


def _lanes(track: Track, series: int) -> Floats:
    """[n], how far apart the links of two heads are at each token."""
    lanes: Floats = np.minimum(THICKEST, SPREAD / series * track.lengths)
    return lanes
