from typing import Any

import pytest

from config.sign_in import roles_of_groups, sign_in_faults

OFF: dict[str, Any] = {
    "CIPHERMARK_OIDC_ISSUER": "",
    "OIDC_RP_CLIENT_ID": "",
    "OIDC_RP_CLIENT_SECRET": "",
    "OIDC_RP_SCOPES": "openid",
    "CIPHERMARK_PROXY_USER_HEADER": "",
    "CIPHERMARK_PROXY_GROUPS_HEADER": "",
    "CIPHERMARK_PROXY_SECRET": "",
    "CIPHERMARK_ROLES": {"*": "viewer"},
}
OIDC = {
    "CIPHERMARK_OIDC_ISSUER": "https://id.example.org/realms/main",
    "OIDC_RP_CLIENT_ID": "bench",
    "OIDC_RP_CLIENT_SECRET": "s",
}
PROXY = {
    "CIPHERMARK_PROXY_USER_HEADER": "X-Forwarded-User",
    "CIPHERMARK_PROXY_GROUPS_HEADER": "X-Forwarded-Groups",
    "CIPHERMARK_PROXY_SECRET": "twenty-characters-20",
}


@pytest.mark.parametrize("given", ({}, OIDC, PROXY, {**OIDC, **PROXY}))
def test_each_way_is_off_or_whole(given: dict[str, str]) -> None:
    assert list(sign_in_faults({**OFF, **given})) == []


@pytest.mark.parametrize(
    ("given", "said"),
    (
        ({**OIDC, "OIDC_RP_CLIENT_SECRET": ""}, "requires CIPHERMARK_OIDC_CLIENT_SECRET"),
        ({"OIDC_RP_CLIENT_ID": "bench"}, "requires CIPHERMARK_OIDC_ISSUER and CIPHERMARK"),
        ({**OIDC, "OIDC_RP_SCOPES": "profile"}, "must contain openid"),
        ({**OIDC, "CIPHERMARK_ROLES": {}}, "CIPHERMARK_ROLES is empty, so no one can sign in"),
        ({**PROXY, "CIPHERMARK_PROXY_SECRET": ""}, "requires CIPHERMARK_PROXY_SECRET"),
        (
            {
                **PROXY,
                "CIPHERMARK_PROXY_GROUPS_HEADER": "",
                "CIPHERMARK_ROLES": {"bench": "viewer"},
            },
            "Set CIPHERMARK_PROXY_GROUPS_HEADER, or",
        ),
    ),
)
def test_what_is_set_by_halves_is_refused_with_what_to_do(given: dict[str, Any], said: str) -> None:
    (fault,) = sign_in_faults({**OFF, **given})
    assert said in fault


def test_groups_are_given_roles() -> None:
    text = " bench-admins = administrator, cn=lab=editor,*=viewer, "
    assert roles_of_groups(text) == {
        "bench-admins": "administrator",
        "cn=lab": "editor",
        "*": "viewer",
    }
