"""The runs that are uploaded: the same for the same seed, and none like another."""

import random
from typing import Any
from uuid import UUID

from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

MACHINES = 40
CLONES = 4
"""Of the machines, the last ones: two each, under one machine id and two names."""

MODELS = ("AMD EPYC 9R14", "Intel(R) Xeon(R) Platinum 8488C", "Intel(R) Core(TM) i7-2635QM")
SSH = (
    "aes128-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
    "arcfour",
    "blowfish-cbc",
    "3des-cbc",
)
OPENSSL = ("aes-128-gcm", "chacha20-poly1305", "rc4", "bf-cbc", "des-ede3-cbc")


def documents(count: int, seed: int) -> list[dict[str, Any]]:
    """`count` valid run documents of some machines, in the order of their times."""
    dice = random.Random(seed)
    return [_document(number, dice) for number in range(count)]


def machine_id(number: int) -> str:
    """Of a machine."""
    return f"{number:064x}"


def second_name(number: int) -> str:
    """Of the second of two clones."""
    return f"machine-{number}-b"


def _document(number: int, dice: random.Random) -> dict[str, Any]:
    machine = dice.randrange(MACHINES)
    is_second = machine >= MACHINES - CLONES and dice.random() < 0.5
    name = second_name(machine) if is_second else f"machine-{machine}"
    minute, hour, day = number % 60, number // 60 % 24, 1 + number // 1440
    return run_document(
        *_measurements(dice),
        run_id=str(UUID(int=dice.getrandbits(128), version=4)),
        # No two runs at one time: which is the latest then does not depend on who came first.
        started_at=f"2025-10-{day:02}T{hour:02}:{minute:02}:10Z",
        finished_at=f"2025-10-{day:02}T{hour:02}:{minute:02}:52Z",
        host={"name": name, "machine_id": machine_id(machine)},
        tags={"rack": f"r{machine % 4}"},
        environment=environment(model=MODELS[machine % len(MODELS)]),
    )


def _measurements(dice: random.Random) -> list[dict[str, Any]]:
    made = [ssh_measurement(cipher, *_rates(dice, 2e7, 9e8)) for cipher in SSH]
    for measurement in made:
        for sample in measurement["samples"]:
            sample.update(client_cpu_seconds=1.5, server_cpu_seconds=round(dice.random() + 0.5, 3))
    made += [openssl_measurement(cipher, *_rates(dice, 2e7, 4e9)) for cipher in OPENSSL]
    masked = openssl_measurement("aes-128-gcm", *_rates(dice, 2e7, 1e8), acceleration="masked")
    return [*made, masked]


def _rates(dice: random.Random, lowest: float, highest: float) -> list[float]:
    middle = dice.uniform(lowest, highest)
    return [middle * dice.uniform(0.97, 1.03) for _ in range(3)]
