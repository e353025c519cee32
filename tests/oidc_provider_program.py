"""Run an OpenID Connect provider for tests/oidc_provider.py. The argument is the port.

The provider is oidc-provider-mock with PKCE. This program signs each ID token again, to add the key
ID (`kid`) that real providers add. If a test requests a fault, this program changes the claims or
the signature of the ID token, or makes another response invalid.
"""

import base64
import hashlib
import json
import sys
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import flask
import jwt
import oidc_provider_mock
import werkzeug.serving
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "ciphermark", "the-secret-of-the-client-in-tests"


def _serve(port: int) -> None:
    app, state = oidc_provider_mock.app(), {"fault": ""}
    challenges: dict[str, str] = {}

    def set_fault() -> Any:
        state["fault"] = flask.request.get_json()["fault"]
        return "", 204

    def check_and_fail() -> Any:
        asked = flask.request
        if asked.path == "/oauth2/token":
            digest = hashlib.sha256(asked.form.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if challenges.pop(asked.form["code"], None) != challenge:
                return {"error": "invalid_grant"}, 400
            if state["fault"] == "500":
                return "out of order", 500
        return None

    def note_or_spoil(answer: Any) -> Any:
        asked = flask.request
        if asked.path == "/oauth2/authorize" and "Location" in answer.headers:
            code = parse_qs(urlsplit(answer.headers["Location"]).query).get("code", [""])[0]
            challenges[code] = asked.args.get("code_challenge", "")
        elif asked.path == "/oauth2/token" and answer.status_code == 200:
            body = answer.get_json()
            key = flask.g.oidc_provider_mock_storage.jwk.as_dict(is_private=True)
            body["id_token"] = _spoilt(body["id_token"], key, state["fault"])
            answer.set_data(json.dumps(body))
        elif asked.path == "/userinfo" and state["fault"] == "userinfo":
            answer.set_data(json.dumps({"sub": "somebody-else", "groups": ["bench-admins"]}))
        return answer

    app.add_url_rule("/fault", view_func=set_fault, methods=["PUT"])
    app.before_request(check_and_fail)
    app.after_request(note_or_spoil)
    werkzeug.serving.run_simple("127.0.0.1", port, app, threaded=True)


def _spoilt(token: str, key: dict[str, Any], fault: str) -> str:
    claims = jwt.decode(token, options={"verify_signature": False})
    claims |= _FAULTS.get(fault, dict)()
    claims = {name: value for name, value in claims.items() if value is not None}
    header = {"kid": key["kid"]}
    if fault == "unsigned":
        return jwt.encode(claims, "", "none", header)
    if fault == "client secret":
        return jwt.encode(claims, CLIENT_SECRET, "HS256", header)
    private = jwt.PyJWK(key).key
    if fault == "signature":
        private = rsa.generate_private_key(65537, 2048)
    return jwt.encode(claims, private, "RS256", header)


def _now() -> int:
    return int(time.time())


_FAULTS: dict[str, Any] = {
    "issuer": lambda: {"iss": "https://id.example.org"},
    "audience": lambda: {"aud": "another-client"},
    "given to another": lambda: {"aud": [CLIENT_ID, "other"], "azp": "other"},
    "expired": lambda: {"exp": _now() - 300},
    "not yet valid": lambda: {"iat": _now() + 300},
    "no groups": lambda: {"groups": None},
    "nonce": lambda: {"nonce": "another"},
    "clock 30 s behind": lambda: {"exp": _now() - 30},
    "clock 30 s ahead": lambda: {"iat": _now() + 30},
}


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
