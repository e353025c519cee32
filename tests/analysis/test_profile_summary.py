"""What a made profile keeps: levels, how sure they are, and why some are unknown."""

import json

from analysis.profiles.profile_fit import fit_profile, index_uncertainty
from analysis.profiles.profile_summary import (
    FamilyFit,
    MadeProfile,
    Residual,
    ToolFit,
    profile_of_fleet,
    profile_of_run,
    tool_fit,
    tool_fit_json,
)
from tests.cases import each

NAMES = {"1": "guest", "2": "laptop", "3": "mac", "4": "apart"}
TABLE = {
    "1": {"arcfour": 211e6, "blowfish": 84e6, "3des": 22e6},
    "2": {"arcfour": 178e6, "blowfish": 67e6, "3des": 18e6},
    "3": {"arcfour": 134e6, "blowfish": 40e6, "3des": 15e6},
}


def nothing_fitted(why: str) -> ToolFit:
    unknown = dict.fromkeys(("arcfour", "blowfish", "3des"), why)
    return ToolFit(None, 0, 0, 0, None, None, {}, unknown, 0, ())


def test_a_profile_of_a_run_has_its_levels_and_says_what_it_lacks() -> None:
    made = profile_of_run("nas", {"ssh": {"3des": 2e7, "arcfour": 1e8}}, ("ssh", "openssl"))
    why = "The run did not measure it."
    once = FamilyFit(None, 1)
    assert made == MadeProfile(
        {"ssh": {"3des": 2e7, "arcfour": 1e8}},
        {
            "ssh": ToolFit(
                *("nas", 1, 2, 0, None, None),
                *({"arcfour": once, "3des": once}, {"blowfish": why}, 0, ()),
            ),
            "openssl": ToolFit(
                *("nas", 0, 0, 0, None, None, {}),
                *(dict.fromkeys(("arcfour", "blowfish", "3des"), why), 0, ()),
            ),
        },
    )
    assert made.fits["ssh"].one_family_uncertainty is None


def test_a_profile_of_a_fleet_is_its_fit_in_names_of_people() -> None:
    table = {**TABLE, "4": {"unheard-of": 1e6}}
    made, fit = profile_of_fleet({"ssh": table}, NAMES, {"ssh": "2"}), fit_profile(table, "2")
    told = made.fits["ssh"]
    assert made.levels == {"ssh": {name: one.level for name, one in fit.levels.items()}}
    assert (told.reference, told.machines, told.cells, told.spare) == ("laptop", 3, 9, 4)
    assert (told.rms, told.scatter, told.left_out) == (fit.rms, fit.scatter, len(fit.left_out))
    assert told.families == {
        name: FamilyFit(one.uncertainty, 3) for name, one in fit.levels.items()
    }
    assert fit.scatter is not None
    assert told.one_family_uncertainty == index_uncertainty(fit.scatter, 1)
    sizes = [abs(one.residual) for one in told.largest]
    assert len(sizes) == 5
    assert sizes == sorted(sizes, reverse=True)
    residual = fit.machines["3"].residuals["blowfish"]
    assert told.largest[0] == Residual("mac", "blowfish", residual)


def test_a_reference_that_is_not_linked_is_named() -> None:
    table = {"1": {"arcfour": 2e8}, "2": {"3des": 2e7}}
    told = profile_of_fleet({"ssh": table}, NAMES, {"ssh": "2"}).fits["ssh"]
    assert list(told.families) == ["3des"]
    assert "laptop" in told.unknown["arcfour"]
    assert (told.left_out, told.largest, told.spare) == (1, (), 0)


@each(
    ("table", "references", "why"),
    (
        ({}, None, "No machine measured it."),
        (TABLE, {"openssl": "1"}, "The reference has no level here."),
    ),
)
def test_what_cannot_be_fitted_says_why(
    table: dict[str, dict[str, float]], references: dict[str, str] | None, why: str
) -> None:
    made = profile_of_fleet({"ssh": table}, NAMES, references)
    assert made == MadeProfile({}, {"ssh": nothing_fitted(why)})


def test_without_a_reference_the_fleets_mean_has_speed_1() -> None:
    told = profile_of_fleet({"ssh": TABLE}, NAMES).fits["ssh"]
    assert (told.reference, told.machines) == (None, 3)


def test_a_fit_is_stored_whole() -> None:
    told = profile_of_fleet({"ssh": TABLE}, NAMES).fits["ssh"]
    assert tool_fit(json.loads(json.dumps(tool_fit_json(told)))) == told
