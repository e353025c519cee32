from tests.conftest import ApiClient


def test_the_one_profile_says_its_levels_and_where_they_come_from(reader: ApiClient) -> None:
    (profile,) = reader.get("/api/v1/reference-profiles/").json()["results"]
    assert profile["name"] == "2015"
    assert profile["levels"] == {
        "ssh": {"arcfour": 179492463, "blowfish": 63537579, "3des": 19126310},
        "openssl": {"arcfour": 912e6, "blowfish": 163e6, "3des": 31.2e6},
    }
    assert "three published runs of 2015" in profile["made_from"]["ssh"]
    assert "0.95" in profile["made_from"]["openssl"]
