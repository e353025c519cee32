from typing import Any

from cipherspeed.cipher_catalogue import cipher_catalogue
from tests.conftest import ApiClient

URL = "/api/v1/ciphers/"


def cipher(answer: dict[str, Any], name: str, tool: str = "ssh") -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (
        result for result in answer["results"] if (result["tool"], result["name"]) == (tool, name)
    )
    return found


def test_every_cipher_is_there_with_its_kind_and_status(reader: ApiClient) -> None:
    answer = reader.get(URL).json()
    assert len(answer["results"]) == len(cipher_catalogue().ciphers)
    assert (answer["next"], answer["previous"]) == (None, None)
    assert answer["rules_version"] == cipher_catalogue().rules_version
    assert [policy["name"] for policy in answer["policies"]] == [
        "modern",
        "compatible",
        "everything",
    ]
    triple = cipher(answer, "3des-cbc")
    assert (triple["mode"], triple["block_bits"], triple["aead"]) == ("cbc", 64, False)
    assert (triple["status"], triple["reference"]) == ("broken", "CVE-2016-2183")
    assert "34 GB" in triple["reason"]
    assert cipher(answer, "aes-128-gcm", "openssl")["openssh"] is None


def test_it_says_which_openssh_has_a_cipher_and_which_weaknesses_count(reader: ApiClient) -> None:
    answer = reader.get(URL, {"tool": "ssh"}).json()
    assert {result["tool"] for result in answer["results"]} == {"ssh"}
    chacha = cipher(answer, "chacha20-poly1305@openssh.com")
    assert chacha["openssh"]["present"] == {"since": "6.5", "until": None}
    assert chacha["block_bits"] is None
    (terrapin,) = chacha["advisories"]
    assert (terrapin["reference"], terrapin["status"]) == ("CVE-2023-48795", "acceptable")
    assert terrapin["affected"]["until"] == "9.6"
    arcfour = cipher(answer, "arcfour")
    assert arcfour["openssh"]["present"]["until"] == "7.6"
