import re
from collections.abc import Iterable

from texts.ciphers import openssl_cipher, ssh_cipher
from texts.commands import Command
from texts.context import BESIDE, Context, only_cipher
from texts.events import PLAIN, Event, Named, Row, Sizes, Typed, Words
from texts.facts import Fact
from texts.lines import Line
from texts.numbers import RATE
from texts.speed import SpeedRuns
from texts.transfers import Transfers
from texts.types import Hints
from texts.words import Setting, aes_in, block_size_in, is_heading

_HARMLESS = re.compile(
    r"\s*(?:for|echo|printf|done|end$|fi$|}|do|export|unset|set|sleep|cd|while|wait|time$|#|\w{1,30}=\S)"
)
_LETTER = re.compile(r"[^\W\d_]")
_RATE = re.compile(RATE, re.I)


class Fold:
    def __init__(self, hints: Hints, *, is_about_ssh: bool) -> None:
        self.context = Context(hints)
        self.speed = SpeedRuns(self.context)
        self.transfers = Transfers(self.context, is_about_ssh=is_about_ssh)
        self.after_blank = True
        self.held: list[tuple[Line, Words]] = []

    def read(self, lines: Iterable[tuple[Line, Iterable[Event]]]) -> None:
        context = self.context
        for line, events in lines:
            if line.depth != context.line.depth and context.line.number:
                self.transfers.end()
                context.end_group()
            context.line = line
            try:
                for event in events:
                    self._settle_held(event)
                    self._dispatch(event)
            except Exception as error:  # noqa: BLE001 - a bad line must not affect others
                context.leave_out("parser_failed", f"Unreadable line ({type(error).__name__}).")
            self.after_blank = not line.text.strip("-_=*# ")
            if self.after_blank:
                self._settle_held(None)
        self._settle_held(None)
        self.speed.end()
        self.transfers.end()
        self.speed.count_others()

    def _dispatch(self, event: Event) -> None:
        name = f"on_{type(event).__name__.lower()}"
        for reader in (self, self.speed, self.transfers):
            if method := getattr(reader, name, None):
                method(event)

    def _settle_held(self, event: Event | None) -> None:
        if not self.held or isinstance(event, Words):
            return
        (line, held), self.held = (self.context.line, self.held), []
        if not isinstance(event, Row):
            for self.context.line, words in held:
                self._add_words(words)
        self.context.line = line

    def on_words(self, words: Words) -> None:
        if re.search(r"\w", words.text):
            self.context.unrecognised[self.context.line.number] = words.text
        if words.text.startswith("debug1: "):
            self.context.stated_cipher = only_cipher(words.text) or self.context.stated_cipher
            return
        if not _LETTER.search(words.text):
            self.context.end_group()
            return
        if "/s" in words.text and _RATE.search(words.text):
            self.context.remark("no_cipher", "Rate without a cipher.")
        if self.speed.rows and not self.after_blank and words.level == PLAIN:
            self.held.append((self.context.line, words))
        else:
            self._add_words(words)

    def _add_words(self, words: Words) -> None:
        trial = self.transfers.trial
        if words.level < PLAIN or aes_in(words.text):
            self.speed.end()
        named = only_cipher(words.text) or openssl_cipher(words.text)
        is_over = trial.elapsed or named or (trial.rated and any(Setting.of(words.text)))
        if self.after_blank or words.level < PLAIN or is_over:
            self.transfers.end()
        command = self.context.command
        if named and command and command.varies and is_heading(words.text):  # printed by its loop
            self.transfers.on_named(Named(ssh_cipher(named)))
        else:
            self.context.add_words(words.text, words.level)

    def on_fact(self, fact: Fact) -> None:
        if fact.host and fact.host != self.context.host:
            self.speed.end()
            self.transfers.end()
        self.context.add_fact(fact)

    def on_sizes(self, _sizes: Sizes) -> None:
        self.transfers.end()

    def on_typed(self, typed: Typed) -> None:
        self.transfers.end()
        if typed.host and typed.host != self.context.host:
            self.speed.end()
            self.context.add_host(typed.host)
        if typed.command is None:
            self.speed.rows.clear()
            return
        self._add_command(typed.command)

    def _add_command(self, command: Command) -> None:
        context = self.context
        if "/s" in command.text and _RATE.search(command.text):
            context.leave_out("no_figure", "Rate next to a command.")
        if command.sets_mask is not None:
            context.shell_masked = command.sets_mask
        if command.loop:
            self.transfers.loop, self.transfers.done = command.loop, 0
        if command.tool is None and command.amount:
            context.add_files(command.text, command.amount)
        if command.tool is None and _HARMLESS.match(command.text):
            return
        self.speed.end()
        before = context.command
        if before is None or command.tool is None or _setting_of(command) != _setting_of(before):
            context.end_group()
        context.command, context.command_used, context.stated_cipher = command, False, None
        if command.tool is None:
            return
        context.processes = 0
        size = command.block_size or block_size_in(command.text)
        context.stated_size = size or context.stated_size
        context.headings.append(("", BESIDE, False))
        if command.divided and command.amount:
            self.transfers.arithmetic = command


def _setting_of(command: Command) -> str:
    words = (word for word in command.text.split() if word.lower() not in command.algorithms)
    return " ".join(word for word in words if not ssh_cipher(word))
