"""Numbers as a table shows them: a true minus sign, and never a 0.000 that is not 0."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def signed(value: float, digits: int = 2) -> str:
    """``−1.20``; what rounds to zero has no sign."""
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def share(value: float) -> str:
    """A number from 0 to 1: ``0.120``, or ``3·10⁻⁹`` where three digits would hide it."""
    if value == 0 or value >= 0.0005:
        return f"{value:.3f}" if value else "0"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPT)}"
