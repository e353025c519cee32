import itertools
import math
import re
from pathlib import Path

from cipherspeed.palette import FAMILIES, colour_slot
from tests.cases import each

FRONTEND = Path(__file__).parents[2] / "frontend"
STYLE_SHEETS = {
    "light": FRONTEND / "src" / "palette.css",
    "dark": FRONTEND / "public" / "assets" / "dark.css",
}
BACKGROUNDS = {"light": "#ffffff", "dark": "#171b20"}
COMMON = ("aes-gcm", "aes-ctr", "aes-cbc", "chacha20", "3des", "blowfish", "rc4")

# Machado, Oliveira and Fernandes 2009, severity 1, on linear sRGB.
EYES = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranope": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "protanope": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "tritanope": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
Colour = tuple[float, float, float]


def linear(colour: str) -> Colour:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    low, middle, high = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return (low, middle, high)


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def seen(colour: str, eye: str) -> Colour:
    """Return how a person sees a colour, in OKLab. `eye`: colour vision, such as "protanope"."""
    red, green, blue = (
        min(1.0, max(1e-6, sum(a * b for a, b in zip(row, linear(colour), strict=True))))
        for row in EYES[eye]
    )
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def colours(theme: str) -> dict[str, str]:
    text = STYLE_SHEETS[theme].read_text("utf-8")
    return dict(re.findall(r"--cipher-([a-z0-9-]+): (#[0-9a-f]{6})", text))


@each(
    ("cipher", "slot"),
    (
        ("aes128-gcm@openssh.com", "aes-gcm-1"),
        ("aes-128-gcm", "aes-gcm-1"),
        ("id-aes256-gcm", "aes-gcm-3"),
        ("aes256-gcm@openssh.com", "aes-gcm-3"),
        ("aes192-ctr", "aes-ctr-2"),
        ("aes-256-cbc", "aes-cbc-3"),
        ("rijndael-cbc@lysator.liu.se", "aes-cbc-2"),
        ("aes-128-ccm", "aes-other-1"),
        ("aes-256-xts", "aes-other-3"),
        ("chacha20-poly1305@openssh.com", "chacha20-2"),
        ("chacha20", "chacha20-2"),
        ("3des-cbc", "3des-2"),
        ("des-ede3-cbc", "3des-2"),
        ("des-ede3", "3des-2"),
        ("blowfish-cbc", "blowfish-2"),
        ("bf-cbc", "blowfish-2"),
        ("cast128-cbc", "cast-1"),
        ("cast5-cbc", "cast-2"),
        ("arcfour", "rc4-2"),
        ("arcfour128", "rc4-1"),
        ("arcfour256", "rc4-3"),
        ("rc4", "rc4-2"),
        ("camellia-256-cbc", "camellia-3"),
        ("aria-128-gcm", "other-1"),
        ("seed-cbc", "other-2"),
        ("a name nobody has heard of", "other-2"),
    ),
)
def test_a_cipher_has_the_colour_of_its_family_and_key_size(cipher: str, slot: str) -> None:
    assert colour_slot(cipher) == slot


def test_every_family_has_its_three_colours_in_both_themes() -> None:
    slots = {f"{known.key}-{step}" for known in FAMILIES for step in (1, 2, 3)}
    assert set(colours("light")) == set(colours("dark")) == slots


@each("theme", ("light", "dark"))
def test_every_colour_stands_out_from_the_page(theme: str) -> None:
    page = luminance(BACKGROUNDS[theme])
    for slot, colour in colours(theme).items():
        low, high = sorted((page, luminance(colour)))
        assert (high + 0.05) / (low + 0.05) >= 3, slot


@each("theme", ("light", "dark"))
@each("eye", EYES)
def test_common_families_stay_apart_for_every_eye(theme: str, eye: str) -> None:
    known = colours(theme)
    for first, second in itertools.combinations(COMMON, 2):
        apart = math.dist(seen(known[f"{first}-2"], eye), seen(known[f"{second}-2"], eye))
        assert apart >= 0.075, (first, second)
