"""Provide all functions and constants of the agent in one module.

If a test assigns to a name in this module, the name changes in every module of the agent.
"""
# ruff: noqa: F403

import sys
from types import ModuleType
from typing import Any

from ciphermark_agent.children import *
from ciphermark_agent.children import _children as _children
from ciphermark_agent.command_line import *
from ciphermark_agent.common import *
from ciphermark_agent.conditions import *
from ciphermark_agent.delivery import *
from ciphermark_agent.environment import *
from ciphermark_agent.openssl import *
from ciphermark_agent.run import *
from ciphermark_agent.schedule import *
from ciphermark_agent.settings import *
from ciphermark_agent.ssh_connection import *
from ciphermark_agent.ssh_server import *
from ciphermark_agent.ssh_tries import *
from ciphermark_agent.tables import *
from ciphermark_agent.tries import *
from ciphermark_agent.upload import *


class _Whole(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        for module, content in list(sys.modules.items()):
            if module.startswith("ciphermark_agent.") and name in vars(content):
                setattr(content, name, value)


sys.modules[__name__].__class__ = _Whole
