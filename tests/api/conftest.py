"""The sshd that reads our configurations is the one that the agent's tests measure with."""

from tests.agent.conftest import sshd

__all__ = ["sshd"]
