"""Which lines of a long text are worth a closer look, and for what: found by words alone.

Most lines of a long report say nothing about ssh. Looking for a few words costs a fraction of
trying every pattern.
"""

NAME = 1
"""A cipher's or MAC's name may be in the line."""
RATE = 2
"""A unit of a rate is in it."""
RESULT = 4
"""A word of dd or time."""
COMMAND = 8
"""A prompt, or a program."""
FACT = 16
"""A title of a fact of the environment."""
LOG = 32
"""A word of ssh's own messages."""
FAILURE = 64
"""The beginning of a word that every message of a failure has; it says nothing alone."""

_WORDS: tuple[tuple[int, tuple[str, ...]], ...] = tuple(
    (hint, tuple(words.split("|")))
    for hint, words in (
        (
            NAME,
            "aes128|aes192|aes256|rijndael|arcfour|blowfish|3des|cast128|twofish|serpent|camellia"
            "|chacha20|des-c|seed-c|rc2-c|idea-c|crypticore|acss@|aead_aes|hmac-|umac-|cipher"
            "|algorithm",
        ),
        (RATE, "/s|/ s|bps| per second|/с|/秒"),
        (
            RESULT,
            "byte|octet|oktet|bajt|байт|バイト|字节|位元組|바이트|mb)|mb,|gb)|gb,|kb)|mib)|gib)"
            "|mo)|mo,|+0 |+1 |0+|real|user|sys|elapsed|executed| total|wall clock|%cpu|% cpu"
            "|usr time|inputs+|pagefaults|percent of cpu|exit status:|page size|page faults"
            "|context switches|signals delivered|(kbytes)|swaps:|pf+|records in|records out",
        ),
        (
            COMMAND,
            "ssh|scp |sftp|dbclient|dd |head -c|ia32cap|$|# |% |+ |ps c:|done|for |echo |sleep "
            "|do |alias ",
        ),
        (
            FACT,
            "model name|flags|features|brand_string|hw.model|_name=|version=|linux |freebsd "
            "|openbsd |netbsd |darwin |dropbear|openssh_|fpu |cpu family|bogomips|cpu m|processor"
            "|stepping|_id=|vendor_id|sse2|cache size|microcode|cpu cores|id=|name=|_url="
            "|[success]|[failure]|rc=|(item=|:  |  :|power management|mitigation|not affected"
            "|vulnerab",
        ),
        (
            LOG,
            "debug1|kex:|100%|unable to negotiate|connection |broken pipe|permission denied"
            "|passphrase|password:|authmethod|auth |exitstatus|transferred: |bytes per second:"
            "|division by zero|supported|no result|resolve|timed out|no route|host key|connected"
            "|compression|mac|authenticated|pseudo-terminal|warning: perm|dd: |unknown cipher"
            "|bad cipher|refused|rejected|no valid|invalid cipher|sftp> |file list|total size is"
            "|uploading|fetching|resuming|  cmd: ",
        ),
        (FAILURE, "un|no|bad|ref|rej|conn|lost|deni|brok|key|timed|divis|inval|fail|error"),
    )
)


def hints_of(text: str) -> int:
    """What a line may be, as the bits above."""
    lowered = text.lower()
    return sum(hint for hint, words in _WORDS if any(word in lowered for word in words))
