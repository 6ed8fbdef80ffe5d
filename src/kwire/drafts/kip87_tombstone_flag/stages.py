# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The two migration plans of the KIP-87 draft as executable tables.

``STAGES`` has a row per stage, and a cell per request type. A cell names a broker's
action, and ``Stage.on_produce`` and ``Stage.on_fetch`` perform the action on a message.
``stage_after`` follows the upgrade steps in order.

Where the document contradicts itself, kwire uses these rules:

* Magic 0 and 1 use the null value in every stage, although stage 2 of the first plan
  says that the broker only understands the flag.
* The document's note applies to all stages except the first: a null value without the
  bit is rejected, because an older consumer would interpret it as a delete.
* When messages from old producers are converted up, their null values receive the bit.
  This is implied, but not written.

Conversions between magic 0 and 1 for old producers are not implemented.
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
"""Actions of a broker.

* ``STORE``: store the message unchanged.
* ``UP``: convert the message to the draft's magic 2.
* ``DOWN``: convert the message to an older magic.
* ``REJECT``: reject the message.
* ``SERVE``: serve the message as it is stored.
"""

VERSION = 3
"""Version of Produce and Fetch that supports the draft's magic 2."""

_NEWEST_MAGIC = (0, 0, 1, 2)
"""Maximum magic that a consumer supports, by its Fetch version."""


class Outcome(NamedTuple):
    """Result of processing a message.

    * ``action``: action of the table cell, or ``serve`` if no conversion is required.
    * ``message``: stored or served message. None if it was rejected, with a ``reason``.
    * ``is_delete``: whether log compaction treats the message as a delete.
    * ``zero_copy``: whether a Fetch response contains the stored bytes.
    * ``report``: information that a conversion lost.
    """

    action: str
    message: Message | None
    is_delete: bool = False
    zero_copy: bool = False
    report: TombstoneReport | None = None
    reason: str = ""

    @property
    def error_code(self) -> int:
        """Kafka's error code for the producer, because the draft specifies none."""
        return INVALID_RECORD if self.message is None else NONE


class Stage(NamedTuple):
    """Table row: the state of a cluster between two upgrades.

    ``message_format`` is the brokers' message.format.version. The cells are:

    * ``produce_old``: Produce 0 to 2.
    * ``produce_plain``: Produce 3 with a value and without the tombstone bit.
    * ``produce_tombstone``: Produce 3 with the tombstone bit.
    * ``produce_null``: Produce 3 with a null value and without the tombstone bit.
    * ``fetch_old``: Fetch 0 to 2. Fetch 3 always serves messages as stored.

    If ``either_deletes`` is True, a null value in magic 2 is a delete, like the bit.
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
        """Process a message in a Produce request as a broker in this stage does.

        Raises ``UnsupportedVersion`` if ``version`` is not 0 to 3.
        """
        _check_version("Produce", version)
        if (message.magic == 2) is not (version == VERSION):
            magics = "2" if version == VERSION else "0 or 1"
            reason = f"Produce v{version} requires magic {magics} (got {message.magic})"
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
        """Process a stored message for a Fetch request as a broker in this stage does.

        Consumers with Fetch 2 receive at most magic 1, and older consumers magic 0.
        Raises ``UnsupportedVersion`` if ``version`` is not 0 to 3, and ``EncodeError``
        if the log in this stage cannot contain the message.
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
        """Whether the log cleaner in this stage treats a stored message as a delete."""
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


# Cells: Produce 0 to 2, plain, tombstone and null value, then Fetch 0 to 2.
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
"""Stages by name, for the two-stage plan and the plan by magic."""

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
"""Steps of both plans in order, with the stage that starts or continues."""


def stage_after(steps: Sequence[str], plan: str = "magic") -> Stage | None:
    """Find a cluster's stage after these upgrade steps.

    Returns None before brokers support the draft, because they behave as usual. Raises
    ``ValueError`` if ``plan`` is unknown, or if a step is out of order. In the second
    case, the message names the required step.
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
