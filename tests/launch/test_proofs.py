"""`make fuzz` and its like end what they have started."""

import os
import signal
import time

from tests.launch.test_make_run import RunningSite, nothing_is_left
from tests.launch.tools import private_folder, within


def test_ctrl_c_ends_every_part_of_make_fuzz_and_its_servers() -> None:
    with private_folder() as folder:
        fuzzing = RunningSite(folder, "fuzz", http_proxy="")
        try:
            for part in ("texts: ", "documents: ", "API as "):
                assert fuzzing.says(part), fuzzing.output
            begun = time.monotonic()
            os.killpg(fuzzing.process.pid, signal.SIGINT)
            assert fuzzing.ended() == 130
            assert time.monotonic() - begun < 60
            assert "Traceback" not in fuzzing.output
            assert within(10, lambda: nothing_is_left(fuzzing)), fuzzing.remains()
        finally:
            fuzzing.close()
