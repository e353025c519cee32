import json
from typing import Any

from drf_spectacular.openapi import AutoSchema

from core.parameters import described

Described = dict[str, Any]


class Schema(AutoSchema):
    """Generate the OpenAPI query parameters from the form or the filter set of the view."""

    def get_filter_backends(self) -> list[Any]:
        return []

    def get_override_parameters(self) -> list[Any]:
        form = getattr(self.view, "parameters", {}).get(self.method)
        filters = getattr(self.view, "filterset_class", None)
        if form is not None:
            return described(form())
        return described(filters().form) if filters and self.method == "GET" else []


ERROR: Described = {
    "type": "object",
    "description": "Format of all errors: what is wrong, and where.",
    "required": ["type", "errors"],
    "properties": {
        "type": {"enum": ["validation_error", "client_error", "server_error"]},
        "errors": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["code", "detail", "attr"],
                "properties": {
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                    "attr": {"type": ["string", "null"], "description": "Dotted path."},
                },
            },
        },
    },
}

ANSWERS = {
    "400": "The parameters or the body are invalid. The response lists all errors.",
    "401": "The token is missing or invalid.",
    "403": "The token or account does not permit this.",
    "404": "Not found.",
    "405": "The method is not allowed.",
    "406": "The requested media type is not available. Use JSON or the type of the file.",
    "414": "The URL exceeds 8,190 bytes.",
    "429": "Too many requests. Wait as long as Retry-After says.",
    "503": "The database is unavailable. Wait as long as Retry-After says.",
}

ANSWERS_TO_WRITING = {
    **ANSWERS,
    "409": "The request conflicts with the current state or with existing content.",
    "413": "Too large.",
    "415": "The content type is not supported.",
}

WAIT = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}


def complete(result: Described, **_: Any) -> Described:
    """Add error responses, empty parameter values and required bodies to the OpenAPI document.

    drf-spectacular calls this function as a postprocessing hook.
    """
    schemas = result["components"]["schemas"]
    schemas["Error"] = ERROR
    for methods in result["paths"].values():
        for method, operation in methods.items():
            _describe_errors(operation, ANSWERS if method == "get" else ANSWERS_TO_WRITING)
            _allow_empty_parameters(operation)
            _require_body(operation)
            _move_definitions(operation, schemas)
    return result


def _describe_errors(operation: Described, answers: dict[str, str]) -> None:
    described = operation["responses"]
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for status, meaning in answers.items():
        known = described.get(status, {})
        described[status] = {
            "description": known.get("description") or meaning,
            "content": {"text/html": {}} if status == "414" else content,
            **({"headers": WAIT} if status in ("429", "503") else {}),
        }


def _require_body(operation: Described) -> None:
    if "requestBody" in operation:
        operation["requestBody"]["required"] = True


def _allow_empty_parameters(operation: Described) -> None:
    # The API treats an empty parameter as absent.
    for parameter in operation.get("parameters", []):
        schema = parameter["schema"]
        # A list of strings can contain an empty string.
        if parameter["in"] == "query" and schema.get("items") != {"type": "string"}:
            parameter["allowEmptyValue"] = True
            if "enum" in schema and "" not in schema["enum"]:
                schema["enum"] = [*schema["enum"], ""]


def _move_definitions(operation: Described, schemas: Described) -> None:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        if "$defs" in content["schema"]:
            text = json.dumps(content["schema"])
            moved = json.loads(text.replace("#/$defs/", "#/components/schemas/Run."))
            schemas |= {f"Run.{name}": part for name, part in moved.pop("$defs").items()}
            content["schema"] = {
                n: part for n, part in moved.items() if n not in ("$id", "$schema")
            }
