"""Settings of sign-in by a company's own accounts: what is read, what is refused at the start."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.sign_in import SignInSettings, header_name, roles_of_groups
from tests.config.test_production import checked

OFF = {
    "issuer": "",
    "client_id": "",
    "client_secret": "",
    "scopes": "openid",
    "user_header": "",
    "groups_header": "",
    "proxy_secret": "",
}
OIDC = {
    **OFF,
    "issuer": "https://id.example.org/realms/main",
    "client_id": "bench",
    "client_secret": "s",
}
PROXY = {
    **OFF,
    "user_header": "X-Forwarded-User",
    "groups_header": "X-Forwarded-Groups",
    "proxy_secret": "twenty-characters-20",
}


def refuse(roles: str = "*=viewer", **given: str) -> None:
    mapping = roles_of_groups("CIPHERMARK_ROLES", roles)
    SignInSettings(production=True, roles=mapping, **given).refuse_faults()


@pytest.mark.parametrize("given", (OFF, OIDC, PROXY, {**OIDC, **PROXY, "issuer": OIDC["issuer"]}))
def test_each_way_is_off_or_whole(given: dict[str, str]) -> None:
    if given["issuer"]:
        given = {**given, "client_id": "bench", "client_secret": "s"}
    refuse(**given)


@pytest.mark.parametrize(
    ("given", "roles", "said"),
    (
        ({**OIDC, "client_secret": ""}, "*=viewer",
            "needs CIPHERMARK_OIDC_CLIENT_SECRET beside CIPHERMARK_OIDC_ISSUER and"),
        ({**OFF, "client_id": "bench"}, "*=viewer",
            "needs CIPHERMARK_OIDC_ISSUER and CIPHERMARK_OIDC_CLIENT_SECRET"),
        ({**OIDC, "issuer": "http://id.example.org"}, "*=viewer", "OIDC_ISSUER is 'http"),
        ({**OIDC, "issuer": "id.example.org"}, "*=viewer", "such as https://id.example.org"),
        ({**OIDC, "issuer": "https://a:b@id.example.org"}, "*=viewer", "CIPHERMARK_OIDC_ISSUER is"),
        ({**OIDC, "scopes": "profile"}, "*=viewer", "must contain openid"),
        (OIDC, "", "CIPHERMARK_ROLES is empty, so nobody could sign in"),
        ({**PROXY, "proxy_secret": ""}, "*=viewer", "needs CIPHERMARK_PROXY_SECRET beside"),
        ({**PROXY, "user_header": ""}, "*=viewer", "needs CIPHERMARK_PROXY_USER_HEADER"),
        ({**PROXY, "proxy_secret": "short"}, "*=viewer", "at least 20 random characters"),
        ({**PROXY, "groups_header": ""}, "bench=viewer", "set CIPHERMARK_PROXY_GROUPS_HEADER, or"),
        (PROXY, "", "CIPHERMARK_ROLES is empty"),
    ),
)  # fmt: skip
def test_what_is_unclear_is_refused_with_what_to_do(
    given: dict[str, str], roles: str, said: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=said):
        refuse(roles, **given)


def test_groups_are_given_roles() -> None:
    text = " bench-admins = administrator, cn=lab=editor,*=viewer, "
    assert roles_of_groups("R", text) == {
        "bench-admins": "administrator",
        "cn=lab": "editor",
        "*": "viewer",
    }
    for wrong, said in (
        ("bench=owner", "R has 'bench=owner'; an entry is GROUP=ROLE"),
        ("bench", "R has 'bench'"),
        ("=editor", "R has '=editor'"),
        ("bench=editor,bench=viewer", "R gives the group 'bench' two roles"),
    ):
        with pytest.raises(ImproperlyConfigured, match=said):
            roles_of_groups("R", wrong)


def test_a_header_is_one() -> None:
    assert header_name("H", "Remote-User") == "Remote-User"
    for wrong in ("X_Forwarded_User", "X-User: ada", "-", "HTTP X"):
        with pytest.raises(ImproperlyConfigured, match=r"H is .* such as X-Forwarded-User"):
            header_name("H", wrong)


def test_production_starts_with_both_ways_and_djangos_check_is_clean() -> None:
    both = {
        "CIPHERMARK_OIDC_ISSUER": "https://id.example.org/",
        "CIPHERMARK_OIDC_CLIENT_ID": "bench",
        "CIPHERMARK_OIDC_CLIENT_SECRET": "s3cr3t",
        "CIPHERMARK_PROXY_USER_HEADER": "X-Forwarded-User",
        "CIPHERMARK_PROXY_SECRET": "twenty-characters-20",
        "CIPHERMARK_ROLES": "*=viewer",
    }
    done = checked(**both)
    assert done.returncode == 0, done.stderr
    refused = checked(**{**both, "CIPHERMARK_ROLES": ""})
    assert "CIPHERMARK_ROLES is empty" in refused.stderr
    assert refused.returncode != 0
