"""The machines that a query finds measured with both tools."""

from dataclasses import dataclass, replace

from analysis.both_tools import BothTools, both_tools
from analysis.openssl_against_ssh import own_cipher, ssh_ciphers
from results.comparison.comparison import compare
from results.comparison.default_block_size import resolve_block_size
from results.selection import ComparisonQuery


@dataclass(frozen=True)
class BothToolsAnswer:
    """Each machine's ciphers by both tools; `block_size` is openssl's, in bytes."""

    block_size: int | None
    rows: tuple[BothTools, ...]


def compare_tools(query: ComparisonQuery) -> BothToolsAnswer:
    """The query's ciphers, machine by machine, over ssh and alone.

    The query may be of either tool; what it does not say of the other is that tool's default.
    openssl's block size is the query's, else the largest that most machines have.
    """
    ssh, openssl = _queries(query)
    if not (ssh.ciphers and openssl.ciphers):
        return BothToolsAnswer(None, ())
    openssl = resolve_block_size(openssl)
    return BothToolsAnswer(openssl.block_size, both_tools(compare(ssh), compare(openssl)))


def _queries(query: ComparisonQuery) -> tuple[ComparisonQuery, ComparisonQuery]:
    by_host = replace(query.plain, group_by="host", metric="throughput", profile=None)
    if query.tool == "ssh":
        ciphers = query.ciphers
    else:
        ciphers = tuple(name for own in query.ciphers for name in ssh_ciphers(own))
    alone = dict.fromkeys(own for own in map(own_cipher, ciphers) if own)
    return (
        replace(by_host, tool="ssh", ciphers=ciphers, block_size=None),
        replace(by_host, tool="openssl", ciphers=tuple(alone)),
    )
