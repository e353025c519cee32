"""The commands of an ssh text in turn: the shell that they are typed in, or their script."""

from dataclasses import dataclass, field, replace

from parsers.ssh.commands.command import Command
from parsers.ssh.headings import names_other_tool
from parsers.ssh.reading_state import NOTHING_SAID, UNCLEAR, ReadingState
from parsers.ssh.try_blocks import Block


@dataclass
class Shell:
    """What the commands so far make the next one mean; it sets the state for what follows."""

    state: ReadingState
    commands: list[tuple[int, Command]] = field(default_factory=list)
    """All of them, with their lines."""
    mixed_from: float = float("inf")
    """The line from which on no result can be told from those of other jobs or settings."""
    listing: bool = False
    """Whether the last command lists ciphers: names below it are no headings."""
    several: set[str] | None = None
    """Ciphers listed below a command that may list several machines; None below another."""
    _job: int | None = None
    """The line of a transfer left to run in the background."""
    _prints_name: bool = False
    """Whether a script printed a variable since the ssh command before."""
    _ran: str = ""
    """The last command that did more than look."""
    _prompt: str = ""
    _program: str = ""
    """Which ssh the commands call, by its path and libraries."""
    _unsure: bool = False
    """Whether the last command may have changed the machine or a version."""
    _loops: frozenset[str] = frozenset()
    """Variables of the script's loops."""
    _varies: bool = False
    """Whether a loop changes more than the cipher."""
    _times_loop: bool = False
    """Whether the times below a typed command, or in a script, are those of a whole loop."""
    _sent: tuple[Command, int] = (NOTHING_SAID, 0)
    """The last command that sends, and how many lines had changed something before it."""

    def keeps(self, command: Command) -> bool:
        """A transfer, the same command once more, or one that only looks, at the same prompt."""
        if command.by_hand:
            unnamed = "$" if self.state.is_measured else command.prompt
            if command.prompt != (self._prompt or unnamed):
                return False
        if command.ssh:
            return not command.login
        if command.keeps or command.sets_mask:
            return True
        return command.typed and command.wording == self._ran and self.state.has_output

    def take(self, command: Command) -> None:
        """One command, and what it changes for the lines below it."""
        self.commands.append((self.state.line, command))
        is_typed = command.by_hand
        if is_typed and not self._is_same_place(command):
            self.state.leave(command.host)
        if command.host:
            self.state.move_to(command.host)
        if is_typed:
            self._prompt, self._loops, self._varies = command.prompt, frozenset(), False
            self._times_loop = False
            self.state.keep_depth()
        command = self._in_loops(command)
        if command.typed:
            self.several = set() if command.several else None
        if command.typed or command.lists_ciphers:
            self.listing = command.lists_ciphers
        if command.sets_mask:
            self.state.close()
        if command.sets_mask or not (command.ssh or command.keeps or self.state.mask.sets_mask):
            self.state.mask = NOTHING_SAID if command.wording.startswith("unset") else command
        if command.changes_ssh:
            self.mixed_from = min(self.mixed_from, self.state.line)
        if command.ssh:
            self._transfer(command)
        else:
            self._elsewhere(command)
        if not command.keeps:
            self._ran = command.wording
            self.state.ran()
        is_idle = command.keeps or command.sets_mask
        if is_typed:
            self.state.answers, self._unsure = not is_idle, not (is_idle or command.ssh)
        if command.login or command.elsewhere:
            self.state.leave(None)

    def _in_loops(self, command: Command) -> Command:
        """The command, unclear if the loops that it stands in change more than the cipher."""
        self._loops |= command.loops
        if command.varies & self._loops:
            self._varies = True
        self._times_loop |= command.times_loop
        if self._times_loop:
            command = replace(command, times_loop=True)
        if command.ssh and self._varies:
            command = replace(command, **UNCLEAR, far_end=True)
        return command

    def _is_same_place(self, command: Command) -> bool:
        """Whether a command is typed where the one before it was, which changed nothing."""
        is_other = command.program not in (None, self._program)
        self._program = command.program or ("" if is_other else self._program)
        if command.host and command.host != self.state.place.host:
            return True  # `move_to` sees to it
        is_moved = self._prompt and command.prompt != self._prompt and command.host is None
        return not (is_moved or is_other or (self._unsure and command.wording != self._ran))

    def _elsewhere(self, command: Command) -> None:
        """A command that sends nothing through ssh; in a script it may prepare what is sent."""
        if command.waits:
            self._job = None
            return
        if command.names and self.state.base.names:
            self._prints_name = True
        elif command.names and self.state.is_unanswered:
            self.state.base = replace(self.state.base, names="after")
        is_typed = command.by_hand
        if command.far_end and (command.by_variable or command.problem):
            self.state.base = command
        elif is_typed and names_other_tool(command.wording) and not command.keeps:
            self.state.base = replace(NOTHING_SAID, problem="command_unclear")
        elif is_typed and self.state.base.problem:
            self.state.base = NOTHING_SAID
        elif command.amount is not None and not command.typed:
            self.state.base = replace(self.state.base, amount=command.amount)
        if is_typed or command.apart or command.lists_ciphers:
            self.state.open(Block(self.state.line, command))
        elif command.amount is not None and self.state.block.is_empty:
            self.state.block.command = replace(self.state.block.command, amount=command.amount)

    def _transfer(self, command: Command) -> None:
        """A command that sends through ssh; a heading right before it may name the cipher."""
        if self._job is not None and not command.traced:
            self.mixed_from = min(self.mixed_from, self._job)
        self._job = self.state.line if command.job else None
        self.listing = False
        earlier = self.state.block
        sent, changed = self._sent
        self._sent = command, self.state.changed
        # Of a script: the results of several commands that it lists stand below the last.
        is_listed = sent.wording != "" and not (sent.typed or command.typed)
        is_same = (sent.wording, sent.cipher, changed) == (
            command.wording,
            command.cipher,
            self.state.changed,
        )
        is_unanswered = self.state.is_unanswered
        self.state.end_results()
        if self._prints_name and not command.names:
            command = replace(command, names="before")
        self._prints_name = False
        pending = earlier.is_empty and earlier.cipher is not None
        # A cipher that is not known took the place of the one that the command before named.
        unknown = command.unclear and command.cipher is None and earlier.command.cipher is not None
        same = not unknown and command.cipher in (None, earlier.cipher)
        if command.amount is None and (pending or not command.typed or command.traced):
            command = replace(command, amount=self.state.base.amount)
        self.state.base = command
        if command.cipher:
            self.state.use_title_above(command)
        command = self.state.context(command)
        block = Block(self.state.line, command, command.cipher, command.mac)
        block.foreign = unknown
        block.compression = command.compression
        if pending and same:
            block.cipher, block.attempt = earlier.cipher, earlier.attempt
            block.mac = block.mac or earlier.mac
            block.compression |= earlier.compression
        if is_listed and is_unanswered and not is_same:
            block.command = replace(command, **UNCLEAR)
        self.state.open(block)
