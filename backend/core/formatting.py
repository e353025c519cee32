"""Format numbers in the same way as `frontend/src/format.ts`.

The cases in tests/pages/format_cases.json test both implementations.
"""

from decimal import ROUND_HALF_UP, Decimal

PREFIXES = ("", "k", "M", "G", "T")
DIGITS = 3


def _rounded(value: float) -> Decimal:
    exact = Decimal(value)
    exponent = exact.adjusted() - (DIGITS - 1)
    return exact.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_HALF_UP)


def _fixed(value: float, places: int, sign: str = "") -> str:
    """Format a number with a fixed number of decimal places and with the minus sign "−".

    Round half away from zero, like JavaScript's `toFixed` and unlike Python's `format`.
    """
    step = Decimal(1).scaleb(-places)
    return f"{Decimal(value).quantize(step, rounding=ROUND_HALF_UP):{sign}}".replace("-", "−")


def three_digits(value: float) -> str:
    """Format a number with three significant digits, such as 328, 1.34, 0.0125 or 12300."""
    if value == 0:
        return "0"
    rounded = _rounded(value)
    places = max(0, DIGITS - 1 - rounded.adjusted())
    return f"{rounded:.{places}f}"


def throughput(bytes_per_second: float) -> str:
    """Format bytes per second with a decimal prefix, such as "328 MB/s" or "1.34 GB/s"."""
    scaled, step = bytes_per_second, 0
    # Compare after rounding, so that 999.6 MB/s becomes 1.00 GB/s and not 1000 MB/s.
    while step < len(PREFIXES) - 1 and scaled > 0 and _rounded(scaled) >= 1000:
        scaled, step = scaled / 1000, step + 1
    return f"{three_digits(scaled)} {PREFIXES[step]}B/s"


def quantity(value: float, unit: str) -> str:
    """Format a value with its unit.

    `unit`: "B/s", "s/GB", "ratio", or "relative" for a ratio that `difference` formats.
    """
    if unit == "B/s":
        return throughput(value)
    if unit == "s/GB":
        return f"{three_digits(value)} s/GB"
    if unit == "relative":
        return difference(value)
    return f"{three_digits(value)} ×"


def quantity_range(low: float, high: float, unit: str) -> str:
    """Format a range, such as "123 – 194 MB/s" or "980 kB/s – 1.02 MB/s"."""
    first, last = quantity(low, unit), quantity(high, unit)
    number, _, shared = first.partition(" ")
    return f"{number if last.endswith(' ' + shared) else first} – {last}"


def exact(value: float, unit: str) -> str:
    """Format a value without a prefix, such as "328370000 B/s"."""
    text = f"{value:.0f}" if unit == "B/s" and value >= 1000 else f"{value:.6g}"
    return f"{text} {'×' if unit == 'ratio' else unit}"


def data_size(count: float) -> str:
    """Format a number of bytes with a binary prefix, such as "16 KiB" or "23.5 GiB"."""
    for prefix in ("", "Ki", "Mi", "Gi"):
        if count < 1024:
            return f"{count:.0f} {prefix}B" if count == int(count) else f"{count:.1f} {prefix}B"
        count /= 1024
    return f"{count:.1f} TiB"


def factor(value: float) -> str:
    """Format an uncertainty factor: 1.35 as "1.35", but 1.004 (below 1.01) with three decimals."""
    return _fixed(value, 3 if value < 1.01 else 2)


def percent(fraction: float) -> str:
    """Format a fraction as a percentage: 0.12 as "12 %", and 0.008 as "0.8 %"."""
    value = fraction * 100
    return f"{_fixed(value, 1 if abs(value) < 9.95 else 0)} %".replace("−0.0", "0.0")


MOST_PERCENT = 3.0


def difference(ratio: float, beside: float | None = None) -> str:
    """Format a ratio as a difference in per cent, or as a factor if the ratio is 3 or more.

    Examples: 1.073 is "+7.3 %", and 4.2 is "4.20 ×". If `beside` is given, `beside` instead of
    `ratio` decides the format, so that a value and the bounds of its interval get the same unit.
    """
    if (beside or ratio) >= MOST_PERCENT:
        return f"{three_digits(ratio)} ×"
    percent = (ratio - 1) * 100
    text = _fixed(percent, 1 if abs(percent) < 9.95 else 0, "+")
    return f"{text} %".replace("+0.0", "0.0").replace("−0.0", "0.0")


def signed_percent(ratio: float) -> str:
    """Format a ratio as a difference in per cent: 1.123 as "+12.3 %", and 0.752 as "−24.8 %"."""
    return f"{_fixed((ratio - 1) * 100, 1, '+')} %"
