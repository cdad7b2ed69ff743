import pytest

from core.errors import UserError
from core.switches import INTACT, Scaling, Switches, read_switches


def test_the_divisor_of_a_product() -> None:
    assert [scaling.divisor(64) for scaling in Scaling] == [8.0, 1.0, 64.0]


@pytest.mark.parametrize("scaling", Scaling)
@pytest.mark.parametrize("mask", [True, False])
def test_switches_are_read_back(scaling: Scaling, mask: bool) -> None:
    switches = Switches(scaling=scaling, mask=mask)
    assert read_switches(switches.changes()) == switches
    assert switches.intact == (switches == INTACT) == (not switches.changes())


def test_switches_are_kept_in_words() -> None:
    assert Switches(scaling=Scaling.TWICE, mask=False).changes() == ("scaling=twice", "mask=off")


@pytest.mark.parametrize("change", ["", "scaling", "scaling=thrice", "mask=no", "gates=off"])
def test_what_names_no_switch_is_refused(change: str) -> None:
    with pytest.raises(UserError, match="scaling=off, scaling=twice or mask=off"):
        read_switches((change,))
