import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import jsonschema

from cipherspeed.validation import MAX_FAULTS, Fault, run_schema, validate_run_document
from tests.cases import each
from tests.sample_documents import openssl_measurement, run_document, ssh_measurement

Change = Callable[[dict[str, Any]], object]


def faults_after(change: Change) -> dict[str, Fault]:
    document = run_document(
        ssh_measurement("aes128-ctr", 2e8), openssl_measurement("aes-128-cbc", 1e9)
    )
    change(document)
    return {fault.path: fault for fault in validate_run_document(document)}


def test_a_complete_document_is_valid() -> None:
    assert validate_run_document(run_document()) == []


def test_inner_values_of_the_environment_may_be_null_or_absent() -> None:
    bare = {"cpu": {"model": None}, "os": {}, "openssl": {}, "openssh": {}}
    assert validate_run_document(run_document(environment=bare)) == []


def test_unknown_extra_fields_are_let_through() -> None:
    assert validate_run_document(run_document(future={"x": 1})) == []


@each(
    ("change", "path", "code"),
    (
        (lambda d: d.pop("host"), "host", "required"),
        (lambda d: d["host"].update(name=" "), "host.name", "pattern"),
        (lambda d: d.update(schema="ciphermark/run/9"), "schema", "const"),
        (lambda d: d.update(run_id="7"), "run_id", "pattern"),
        (lambda d: d.update(started_at="yesterday"), "started_at", "format"),
        (lambda d: d.update(measurements=[]), "measurements", "minItems"),
        (lambda d: d["environment"].pop("openssl"), "environment.openssl", "required"),
        (lambda d: d["measurements"][0].update(tool="tls"), "measurements.0.tool", "enum"),
        (lambda d: d["measurements"][0].update(method="x"), "measurements.0.method", "enum"),
        (lambda d: d["measurements"][0].update(cipher="AES"), "measurements.0.cipher", "pattern"),
        (lambda d: d["measurements"][0].update(samples=[]), "measurements.0.samples", "minItems"),
        (
            lambda d: d["measurements"][0]["samples"][0].update(seconds=0),
            "measurements.0.samples.0.seconds",
            "exclusiveMinimum",
        ),
        (
            lambda d: d["measurements"][0]["samples"][0].pop("bytes"),
            "measurements.0.samples.0.bytes",
            "required",
        ),
        (
            lambda d: d["measurements"][1].pop("block_size"),
            "measurements.1.block_size",
            "required",
        ),
    ),
)
def test_each_fault_is_named_by_its_path(change: Change, path: str, code: str) -> None:
    faults = faults_after(change)
    assert faults[path].code == code
    assert faults[path].detail


def test_all_faults_are_named_at_once_up_to_the_limit() -> None:
    broken = [{**ssh_measurement("aes128-ctr", 2e8), "samples": [{}]} for _ in range(200)]
    faults = validate_run_document(run_document(*broken))
    assert len(faults) == MAX_FAULTS


def test_a_small_document_with_millions_of_faults_costs_little() -> None:
    broken = {"tool": "tls", "cipher": "", "samples": [{}] * 100}
    document = run_document(*[broken] * 5000, skipped=[{}] * 5000, conditions=[[]] * 200)
    began = time.process_time()
    tracemalloc.start()
    faults = validate_run_document(document)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(faults) == MAX_FAULTS
    assert time.process_time() - began < 10
    assert peak < 50e6


def test_faults_deep_inside_are_found_behind_much_that_is_valid() -> None:
    series = [ssh_measurement("aes128-ctr", 1e8) for _ in range(3000)]
    series[2999]["samples"][0]["seconds"] = "long"
    assert validate_run_document(run_document(*series)) == [
        Fault("measurements.2999.samples.0.seconds", "type", "Must be a number (got 'long').")
    ]


def test_a_fault_quotes_what_was_sent_up_to_100_characters() -> None:
    wrong = {"host": {"name": "x" * 5000}, "tags": [1], "started_at": ["x" * 5000]}
    faults = validate_run_document(run_document(**wrong))
    assert {fault.path: fault.detail for fault in faults} == {
        "host.name": "Must have at most 200 characters (got 5,000).",
        "started_at": f'Must be a string (got ["{"x" * 97}…).',
        "tags": "Must be an object (got [1]).",
    }


def test_the_schema_means_the_same_to_another_implementation() -> None:
    jsonschema.Draft202012Validator.check_schema(run_schema())
    validator = jsonschema.Draft202012Validator(run_schema())
    assert validator.is_valid(run_document())
    assert not validator.is_valid(run_document(measurements=[{"tool": "openssl"}]))
