# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The two migration plans of the KIP-87 draft, as a table that can be run.

``STAGES`` has a row for each stage and a cell for each kind of request; a cell is the
name of what a broker does, and ``Stage.on_produce`` and ``Stage.on_fetch`` do it to a
message. ``stage_after`` walks the steps of an upgrade in their order.

Where the document contradicts itself: magic 0 and 1 keep the rule of the null value
in every stage, though stage 2 of the first plan says that the broker knows the flag
only; and its note holds in every stage but the first: a null value without the bit is
refused, as an older consumer would take it for a delete. Old producers' null values
get the bit where their messages are converted up, which is implied and not written.
What brokers do between magic 0 and 1 for old producers is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import EncodeError, UnsupportedVersion
from ...schema.error_codes import INVALID_RECORD, NONE
from .compaction import is_tombstone
from .conversion import TombstoneReport, down_convert, up_convert
from .messages import TOMBSTONE_BIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .messages import Message

STORE, UP, DOWN, REJECT, SERVE = "store", "up", "down", "reject", "serve"
"""What a broker does: store as it came, convert up or down, refuse, serve as stored."""

VERSION = 3
"""The version of Produce and Fetch that carries the draft's magic 2."""

_NEWEST_MAGIC = (0, 0, 1, 2)
"""What a consumer understands, by its version of Fetch."""


class Outcome(NamedTuple):
    """What a broker did with a message.

    ``action`` is what the cell says, or ``serve`` where a message needs no conversion.
    ``message`` is stored or served, None if refused for ``reason``. ``is_delete`` is
    whether log compaction will take it for a delete, ``zero_copy`` whether a fetch goes
    out as it is stored, and ``report`` what a conversion lost.
    """

    action: str
    message: Message | None
    is_delete: bool = False
    zero_copy: bool = False
    report: TombstoneReport | None = None
    reason: str = ""

    @property
    def error_code(self) -> int:
        """The error code for the producer: Kafka's own, as the draft names none."""
        return INVALID_RECORD if self.message is None else NONE


class Stage(NamedTuple):
    """One row of the table: a state of the cluster between two upgrades.

    ``message_format`` is the brokers' message.format.version. Then come the cells:
    Produce up to 2; Produce 3 with a plain message, with the tombstone bit set, with
    it clear and a null value; Fetch up to 2. Fetch 3 serves as stored in every stage.
    With ``either_deletes`` a null value of magic 2 is a delete as well as the bit.
    """

    name: str
    message_format: str
    produce_old: str
    produce_plain: str
    produce_tombstone: str
    produce_null: str
    fetch_old: str
    either_deletes: bool = False
    tombstone_bit: int = TOMBSTONE_BIT

    def on_produce(self, version: int, message: Message) -> Outcome:
        """Do with a message of a Produce request what this stage's broker does.

        Raises ``UnsupportedVersion`` above version 3.
        """
        _check_version("Produce", version)
        if (message.magic == 2) is not (version == VERSION):
            wanted = "2" if version == VERSION else "0 or 1"
            reason = f"Produce v{version} requires magic {wanted} (got {message.magic})"
            return Outcome(REJECT, None, reason=reason)
        action = self._produce_cell(message)
        if action == REJECT:
            reason = (
                "a null value without the tombstone bit would be taken for a delete"
            )
            return Outcome(REJECT, None, reason=reason)
        report = None
        if action == UP:
            (message,), report = up_convert(
                (message,), tombstone_bit=self.tombstone_bit
            )
        elif action == DOWN:
            (message,), report = down_convert(
                (message,), tombstone_bit=self.tombstone_bit
            )
        return Outcome(action, message, self.is_delete(message), report=report)

    def on_fetch(self, version: int, message: Message) -> Outcome:
        """Do with a stored message what this stage's broker does for a Fetch request.

        A consumer of Fetch 2 gets magic 1 at most, and one below it magic 0.
        Raises ``UnsupportedVersion`` above version 3, and ``EncodeError`` for a message
        that cannot be in the log of this stage.
        """
        _check_version("Fetch", version)
        is_delete = self.is_delete(message)
        newest = _NEWEST_MAGIC[version]
        if message.magic <= newest:
            return Outcome(SERVE, message, is_delete, zero_copy=True)
        if message.magic == 2:
            if self.fetch_old != DOWN:
                expected = f"a broker at {self.name} stores magic 0 and 1 alone (got 2)"
                raise EncodeError(expected, "message.magic")
            if is_delete:
                marked = message.attributes | self.tombstone_bit
                message = message._replace(attributes=marked)
        (message,), report = down_convert(
            (message,), newest, tombstone_bit=self.tombstone_bit
        )
        return Outcome(DOWN, message, is_delete, report=report)

    def is_delete(self, message: Message) -> bool:
        """Whether this stage's log cleaner takes a stored message for a delete."""
        if self.either_deletes and message.value is None:
            return True
        return is_tombstone(
            message.magic,
            message.attributes,
            message.value,
            tombstone_bit=self.tombstone_bit,
        )

    def _produce_cell(self, message: Message) -> str:
        if message.magic < 2:
            return self.produce_old
        if message.attributes & self.tombstone_bit:
            return self.produce_tombstone
        return self.produce_plain if message.value is not None else self.produce_null


def _check_version(name: str, version: int) -> None:
    if not 0 <= version <= VERSION:
        raise UnsupportedVersion(
            f"the KIP-87 draft has {name} v0 to v{VERSION} (got v{version})"
        )


# Produce: 0-2, plain, tombstone, null value; Fetch: 0-2.
STAGES = {
    stage.name: stage
    for stage in (
        Stage(
            "two-stage 1",
            "0.10.1-1",
            STORE,
            STORE,
            STORE,
            STORE,
            DOWN,
            either_deletes=True,
        ),
        Stage("two-stage 2", "0.10.2", UP, STORE, STORE, REJECT, DOWN),
        Stage("magic 1", "0.10.1", STORE, DOWN, DOWN, REJECT, SERVE),
        Stage("magic 2", "0.10.2", UP, STORE, STORE, REJECT, DOWN),
    )
}
"""The stages by their names: those of the two-stage plan, and of the plan by magic."""

UPGRADES = {
    "two-stage": (
        ("format 0.10.1-1", "two-stage 1"),
        ("clients", "two-stage 1"),
        ("format 0.10.2", "two-stage 2"),
    ),
    "magic": (
        ("code 0.10.2-IV0", None),
        ("protocol 0.10.2", "magic 1"),
        ("clients", "magic 1"),
        ("format 0.10.2", "magic 2"),
    ),
}
"""The steps of each plan in their order, with the stage that begins or goes on."""


def stage_after(steps: Sequence[str], plan: str = "magic") -> Stage | None:
    """Return the stage that a cluster is in after these steps of an upgrade.

    None before brokers speak the draft: they do as they always did. ``ValueError`` for
    a step out of its order, with the one that has to come first.
    """
    if plan not in UPGRADES:
        raise ValueError(
            f"plan must be one of {', '.join(UPGRADES)} (got {plan!r:.40})"
        )
    stage = None
    for index, step in enumerate(steps):
        if index == len(UPGRADES[plan]):
            raise ValueError(
                f"the upgrade is complete and has no further step (got {step!r:.40})"
            )
        expected, stage = UPGRADES[plan][index]
        if step != expected:
            raise ValueError(f"the next step must be {expected!r} (got {step!r:.40})")
    return None if stage is None else STAGES[stage]
