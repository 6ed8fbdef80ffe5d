# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What is missing of a partition, and why: the end of an export's second pass.

``decide`` is the task: it makes the chains of a partition, has ``export_choice`` choose
among their batches, and says which offsets no replica holds. A cleaner leaves out
offsets too; of a compacted log only those count as lost for which there is a reason.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ..limits import Limits
from .export_batches import batches_schema, write_batches
from .export_choice import CODECS, Conflict, Headers, Pass, Piece, Source
from .export_ranges import union, without
from .export_replicas import (
    Chain,
    Folder,
    chains_of,
    missing_names,
    named_again,
    ranked,
)
from .export_scan import FileScan, Flaw
from .tables import TableWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    Damage: TypeAlias = tuple[int, int, str, str]
    """First and last offset, "damaged", "cut" or "missing", and words."""

_COMPACTED_TOPICS = frozenset(("__consumer_offsets", "__transaction_state"))
_NAMED = 8
"""How many files the reason of one lost range names."""


class PartitionTask(NamedTuple):
    """One partition: what lies in its folders, and the scans of their files."""

    topic: str
    partition: int
    folders: tuple[Folder, ...]
    files: tuple[FileScan, ...]


class DecideTask(NamedTuple):
    """Partitions that are decided by one task, which writes their batches."""

    partitions: tuple[PartitionTask, ...]
    batches: str
    piece_bytes: int
    compression: str
    limits: Limits


class Finding(NamedTuple):
    """A row of ``problems`` under construction: ``low`` to ``high`` is what it cost.

    A ``low`` of -1 says that it cost no offset, a ``high`` below ``low`` that nobody
    knows how many.
    """

    path: str
    position: int
    length: int
    reason: str
    detail: str
    low: int
    high: int


class Lost(NamedTuple):
    """Offsets that no replica holds."""

    first_offset: int
    last_offset: int
    reason: str
    detail: str


class Decision(NamedTuple):
    """What is decided of one partition."""

    topic: str
    partition: int
    start_offset: int
    end_offset: int
    log_start_offset: int
    replicas: int
    replicas_agree: bool
    is_compacted: bool
    control_batches: int
    codecs: dict[str, tuple[int, int, int]]
    pieces: tuple[Piece, ...]
    lost: tuple[Lost, ...]
    findings: tuple[Finding, ...]


def decide(task: DecideTask) -> list[Decision]:
    """Decide the partitions of a task, and write the table of their batches."""
    headers = Headers()
    with TableWriter(
        task.batches, batches_schema(), compression=task.compression
    ) as writer:
        return [
            _Decider(each, headers, task).decide(writer) for each in task.partitions
        ]


class _Decider:
    """Decides one partition."""

    def __init__(
        self, task: PartitionTask, headers: Headers, options: DecideTask
    ) -> None:
        self._task = task
        self._headers = headers
        self._options = options
        files = task.files
        self._is_compacted = (
            task.topic in _COMPACTED_TOPICS
            or any(folder.is_compacted for folder in task.folders)
            or any(file.holes for file in files)
        )
        chains: list[Chain] = []
        for folder in task.folders:
            own = named_again([file for file in files if file.folder == folder.path])
            if not self._is_compacted:
                missing = missing_names(own)
                own = [self._without_stray(file, missing) for file in own]
            chains += chains_of(folder, own)
        self._chains = ranked(chains)
        self._findings: list[Finding] = []
        # For each chain what of it is damaged, ascending.
        self._damage: list[list[Damage]] = []
        # Offsets that a cleaner may have taken, between two files.
        self._weak: list[tuple[int, int]] = []

    def decide(self, writer: TableWriter) -> Decision:
        begins = [
            file.begin for chain in self._chains for file in chain.files if file.batches
        ]
        first_held = min(begins, default=-1)
        start = self._start(first_held)
        aside: dict[str, int] = {}
        while True:
            done = Pass(
                self._chains,
                self._headers,
                start=start,
                aside=aside,
                is_compacted=self._is_compacted,
                piece_bytes=self._options.piece_bytes,
                limits=self._options.limits,
            )
            more = _set_aside(done, aside)
            if more == aside:
                break
            aside = more
        log_start = max((f.log_start for f in self._task.folders), default=0)
        end, claim = self._end(done)
        if log_start > end:
            log_start = 0
        gaps = list(done.gaps)
        if end > done.reached:
            gaps.append((done.reached, end - 1))
        self._judge_files(end)
        lost = list(self._losses(gaps, log_start, end, claim))
        self._tell_conflicts(done)
        place = self._task.topic, self._task.partition
        for source in done.sources:
            write_batches(writer, self._headers, place, source)
        if first_held >= 0:
            start = min(first_held, max(start, log_start))
        return Decision(
            topic=self._task.topic,
            partition=self._task.partition,
            start_offset=start,
            end_offset=max(end, start),
            log_start_offset=log_start,
            replicas=len(self._task.folders),
            replicas_agree=not (
                done.conflicts
                or done.bad
                or any(source.diverged for source in done.sources)
            ),
            is_compacted=self._is_compacted,
            control_batches=done.control_batches,
            codecs={
                CODECS[codec] if codec < len(CODECS) else str(codec): tuple(sums)
                for codec, sums in sorted(done.codecs.items())
            },
            pieces=tuple(done.pieces),
            lost=tuple(lost),
            findings=tuple(self._findings),
        )

    def _without_stray(self, file: FileScan, missing: set[int]) -> FileScan:
        """Leave out a last batch with an offset that nothing leads up to.

        No bytes lie before it in which the offsets between could have been, and no
        cleaner was at work: its offset, which no checksum covers, is damaged.
        """
        is_alone = file.batches == 1 and 0 <= file.name_offset < file.begin
        if not is_alone and not file.tail_jump:
            return file
        position, size, base, last = self._headers.row(file, file.batches - 1)[:4]
        if is_alone and (position or file.begin in missing):
            return file
        before = file.name_offset
        if not is_alone:
            before = self._headers.row(file, file.batches - 2)[3] + 1
        detail = f"a batch with offsets {base} to {last} cannot stand here"
        flaws = [flaw for flaw in file.flaws if flaw.low <= last]
        flaws.append(Flaw(position, size, "offset", detail, low=before))
        flaws += [flaw._replace(low=before) for flaw in file.flaws if flaw.low > last]
        runs = list(file.epochs)
        run = runs.pop()
        if run.batches > 1:
            runs.append(run._replace(last_offset=before - 1, batches=run.batches - 1))
        return file._replace(
            batches=file.batches - 1,
            good_bytes=file.good_bytes - size,
            begin=file.begin if file.batches > 1 else -1,
            end=before if file.batches > 1 else -1,
            epochs=tuple(runs),
            flaws=tuple(flaws),
        )

    def _start(self, first_held: int) -> int:
        """Find where the log begins: what is held or named, or what an epoch says."""
        known = [first_held] if first_held >= 0 else []
        for chain in self._chains:
            known += [
                f.name_offset
                for f in chain.files
                if f.is_genuine and f.name_offset >= 0
            ]
            known += [start for _, start in chain.folder.epochs[:1]]
        return min(known, default=0)

    def _end(self, done: Pass) -> tuple[int, str]:
        """Find how far the log went: what is held, or what something beside it says."""
        end, words = done.reached, ""
        top = max((chain.epoch for chain in self._chains), default=-1)
        cut_off = {
            source.chain.folder.path for source in done.sources if source.diverged
        }
        for chain in self._chains:
            folder = chain.folder
            limit = 2**63
            if chain.epoch < top or folder.path in cut_off:
                limit = done.lineage.begin_above(chain.epoch)
            claims = list(folder.claims)
            for file in chain.files:
                if file.is_genuine:
                    claims.append((file.name_offset, f"{file.path} is named after it"))
                claims += [
                    (flaw.torn_end, f"{file.path} ends within a batch up to there")
                    for flaw in file.flaws
                ]
            for offset, told in claims:
                if end < offset <= limit:
                    end, words = offset, told
        return end, words

    def _judge_files(self, end: int) -> None:
        """Make findings of the flaws of the files, and of what lies between them."""
        ends = {chain.folder.path: chain.end for chain in reversed(self._chains)}
        for chain in self._chains:
            ends[chain.folder.path] = max(ends[chain.folder.path], chain.end)
        for chain in self._chains:
            own_end = max((claim for claim, _ in chain.folder.claims), default=-1)
            damage, seams = self._judge_chain(chain, end, own_end)
            damages = union(each[:2] for each in damage)
            for first, last, file in seams:
                open_seam = without([(first, last)], damages)
                if self._is_compacted:
                    orphans = [o for o in chain.folder.orphans if first <= o <= last]
                    begin = min(orphans, default=last + 1)
                    self._weak += [(low, min(high, begin - 1)) for low, high in open_seam]
                    open_seam = without(open_seam, [(0, begin - 1)])
                for low, high in open_seam:
                    damage.append(self._missing(file.path, 0, low, high))
            expected = chain.end
            tail = without([(expected, min(own_end, end) - 1)], damages)
            if expected == ends[chain.folder.path] and expected >= 0 and tail:
                last_file = chain.files[-1]
                low, high = tail[0][0], tail[-1][1]
                damage.append(
                    self._missing(last_file.path, last_file.segment.size, low, high)
                )
            self._damage.append(sorted(damage))

    def _missing(self, path: str, position: int, low: int, high: int) -> Damage:
        detail = f"offsets {low} to {high} are missing"
        self._findings.append(Finding(path, position, 0, "gap", detail, low, high))
        return low, high, "missing", f"a gap at byte {position} of {path}"

    def _judge_chain(
        self, chain: Chain, end: int, own_end: int
    ) -> tuple[list[Damage], list[tuple[int, int, FileScan]]]:
        """Go through the files: what is damaged, and the seams between them."""
        damage: list[Damage] = []
        seams = []
        expected = -1
        # A file of which nothing is left counts where something says that it was one.
        genuine = [
            file
            for file in chain.files
            if file.is_genuine or chain.end <= file.name_offset < own_end
        ]
        followers = list(genuine)
        for file in chain.files:
            is_genuine = bool(followers) and followers[0] is file
            followers = followers[is_genuine:]
            stop = end - 1
            if followers:
                after = followers[0]
                stop = (after.name_offset if _is_named(after) else after.begin) - 1
            begin = file.name_offset if _is_named(file) else file.begin
            if is_genuine:
                content = file.begin if file.batches else begin
                low = begin if expected < 0 and self._is_compacted else expected
                if 0 <= low < content:
                    seams.append((low, content - 1, file))
            # A file that nobody knows, behind all others, stands for no offsets.
            costs = is_genuine or bool(followers)
            for flaw in file.flaws:
                found = self._judge_flaw(
                    flaw, file, max(begin, expected), stop, own_end, costs
                )
                if found is not None:
                    damage.append(found)
            if is_genuine:
                expected = max(expected, file.end, begin)
        return damage, seams

    def _judge_flaw(
        self,
        flaw: Flaw,
        file: FileScan,
        begin: int,
        stop: int,
        own_end: int,
        costs: bool,
    ) -> Damage | None:
        low = flaw.low if flaw.low >= 0 else begin
        high = flaw.high if flaw.high >= 0 else stop
        if flaw.is_tail and own_end <= low:
            return None
        if flaw.reason == "name" or not costs:
            low, high = -1, -1
        elif flaw.torn_end >= 0:
            high = max(flaw.torn_end, own_end) - 1
        elif flaw.reason == "cut" and flaw.high < 0 and file.segment.is_newest:
            high = own_end - 1
        self._findings.append(Finding(file.path, *flaw[:4], low, high))
        if low < 0 or high < low:
            return None
        kind = "cut" if flaw.reason == "cut" or flaw.is_tail else "damaged"
        return low, high, kind, f"{flaw.reason} at byte {flaw.position} of {file.path}"

    def _losses(
        self, gaps: list[tuple[int, int]], log_start: int, end: int, claim: str
    ) -> Iterator[Lost]:
        """Say which of the offsets that nothing covers were lost, and why."""
        if self._is_compacted:
            damages = union(each[:2] for chain in self._damage for each in chain)
            gaps = without(gaps, without(union(self._weak), damages))
        for first, last in gaps:
            first = max(first, log_start)
            if first > last:
                continue
            causes = []
            for damage in self._damage:
                at = bisect_right(damage, (last, 2**64)) - 1
                # Regions of a chain hardly overlap, so those that matter are the last.
                while at >= 0 and len(causes) < _NAMED * 4:
                    if damage[at][1] >= first:
                        causes.append(damage[at])
                    elif damage[at][0] < first:
                        break
                    at -= 1
            kinds = {kind for _, _, kind, _ in causes}
            kind = next((k for k in ("damaged", "cut") if k in kinds), "missing")
            words = [words for _, _, _, words in causes if words]
            if last == end - 1 and claim:
                words.append(claim)
            yield Lost(first, last, kind, _listed(words) or "no file holds them")

    def _tell_conflicts(self, done: Pass) -> None:
        """Make findings of what was set aside, and of epochs that cannot be."""
        for source in done.sources:
            self._tell_runs(source, source.diverged)
            row = 0
            for stretch in source.stretches:
                if not stretch.is_right:
                    values = self._headers.row(source.scan, row)
                    detail = (
                        f"leader epoch {values[5]} where the log is of epoch"
                        f" {stretch.epoch}; no checksum covers it"
                    )
                    self._findings.append(
                        Finding(
                            *(source.scan.path, values[0], 0, "leader-epoch"),
                            *(detail, -1, -1),
                        )
                    )
                row += stretch.batches
        for conflict in done.conflicts:
            self._tell_conflict(done, conflict)
        for source, item, error in done.bad:
            self._findings.append(
                Finding(source.scan.path, *item[6:8], "records", error, *item[1:3])
            )

    def _tell_runs(self, source: Source, rows: Sequence[int]) -> None:
        """Make one finding of batches that follow each other, cut off by an epoch."""
        first = 0
        for index in range(1, len(rows) + 1):
            if index < len(rows) and rows[index] == rows[index - 1] + 1:
                continue
            begin = self._headers.row(source.scan, rows[first])
            last = self._headers.row(source.scan, rows[index - 1])
            detail = (
                f"offsets {begin[2]} to {last[3]} of leader epoch {begin[5]} are not of"
                " the log: a leader of a later epoch went on without them"
            )
            length = last[0] + last[1] - begin[0]
            self._findings.append(
                Finding(source.scan.path, begin[0], length, "diverged", detail, -1, -1)
            )
            first = index

    def _tell_conflict(self, done: Pass, conflict: Conflict) -> None:
        winner, loser = conflict.winner, conflict.loser
        source = done.sources[loser[4]]
        right = done.sources[winner[4]].scan.path
        detail = (
            f"other records at offsets {loser[1]} to {loser[2]} than {right}, which is"
            f" taken: {conflict.why} ({conflict.votes} to {conflict.votes_against})"
        )
        self._findings.append(
            Finding(source.scan.path, *loser[6:8], "disagrees", detail, -1, -1)
        )


def _is_named(file: FileScan) -> bool:
    """Whether the file is to be read by its name."""
    return file.segment.base_offset >= 0


def _set_aside(done: Pass, aside: dict[str, int]) -> dict[str, int]:
    """Add the files that lost a conflict, from behind what others confirm on."""
    more = dict(aside)
    for conflict in done.conflicts:
        winner = done.sources[conflict.winner[4]].scan.path
        loser = done.sources[conflict.loser[4]]
        if winner in more and winner not in aside:
            continue
        if loser.scan.path not in more:
            more[loser.scan.path] = loser.confirmed_end
    return more


def _listed(words: Sequence[str]) -> str:
    text = "; ".join(words[:_NAMED])
    more = len(words) - _NAMED
    return f"{text}; and {more} more" if more > 0 else text
