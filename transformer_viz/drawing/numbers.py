"""Numbers in words and tables: a true minus sign, and never a 0.000 that is not 0."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def signed(value: float, digits: int = 2) -> str:
    """Format a number as ``−1.20``; what rounds to zero has no sign."""
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def share(value: float) -> str:
    """A number from 0 to 1: ``0.120``, or ``3·10⁻⁹`` where three digits would hide it."""
    if value == 0 or value >= 0.0005:
        return f"{value:.3f}" if value else "0"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def compact(value: float) -> str:
    """Format a number with four significant digits: ``15,000``, ``2.134``, ``3.4·10⁻⁴``."""
    size = abs(value)
    if value == 0 or 1e-3 <= size < 1e6:
        text = f"{value:,.0f}" if size >= 1000 else f"{value:.4g}"
    else:
        mantissa, exponent = f"{value:.3e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        text = f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    return text.replace("-", "−")


def position(value: float) -> str:
    """A place on an axis of counts, ``120,000``; from a million million on as ``2.3·10¹⁹``."""
    return f"{value:,.0f}" if abs(value) < 1e12 else compact(value)


def percent(part: float, digits: int = 0) -> str:
    """A share of 1 in per cent; no line ends before the sign."""
    return f"{100 * part:.{digits}f}%"


def place_of(span: range) -> str:
    """Format where tokens are in their text, from 1: "5", or "3–5" for several."""
    return f"{span.start + 1}–{span.stop}" if len(span) > 1 else f"{span.stop}"
