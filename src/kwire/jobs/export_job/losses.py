# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The second pass of an export: which batches are read, and which offsets are lost.

``decide`` is the task. It makes the chains of a partition, lets ``choice`` choose among
their batches, and finds the offsets that no replica holds. A cleaner leaves out offsets
too: of a compacted log only those are lost for which there is a reason.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..._limits import Limits
from ...arrow_types import make_arrow_schema
from ...compression import NAMES
from ...log.walk import MAX_RECORDS_PER_BYTE
from ..tables import open_table
from .batches import BATCHES, write_batches
from .choice import ChoicePass, CodecSums, ReadStep
from .conflicts import Conflict
from .headers import ScannedHeaders, SourceFile
from .problems import FileProblem, LostRange
from .ranges import merge_ranges, subtract_ranges
from .replicas import (
    ReplicaChain,
    ReplicaFolder,
    choose_scans,
    find_missing_names,
    make_chains,
    rank_chains,
)
from .scan import FileFlaw, FileScan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tables import TableWriter
    from .ranges import Range

    Damage: TypeAlias = tuple[int, int, str, str]
    """First and last offset, "damaged", "cut" or "missing", and words."""

_COMPACTED_TOPICS = frozenset(("__consumer_offsets", "__transaction_state"))
_NAMED = 8
"""How many files the reason of one lost range names."""


class PartitionTask(NamedTuple):
    """One partition: what lies in its folders, and the scans of their files."""

    topic: str
    partition: int
    folders: tuple[ReplicaFolder, ...]
    files: tuple[FileScan, ...]


class DecideTask(NamedTuple):
    """Partitions that are decided by one task, which writes their batches."""

    partitions: tuple[PartitionTask, ...]
    batches: str
    step_bytes: int
    compression: str
    limits: Limits


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
    codecs: dict[str, CodecSums]
    steps: tuple[ReadStep, ...]
    lost: tuple[LostRange, ...]
    problems: tuple[FileProblem, ...]


def decide(task: DecideTask) -> list[Decision]:
    """Decide the partitions of a task, and write the table of their batches."""
    headers = ScannedHeaders()
    schema = make_arrow_schema(BATCHES)
    with open_table(task.batches, schema, compression=task.compression) as writer:
        return [
            _Decider(each, headers, task).decide(writer) for each in task.partitions
        ]


class _Decider:
    """Decides one partition."""

    def __init__(
        self, task: PartitionTask, headers: ScannedHeaders, options: DecideTask
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
        chains: list[ReplicaChain] = []
        for folder in task.folders:
            own = [file for file in files if file.folder == folder.path]
            missing = find_missing_names(own)
            own = choose_scans(own, missing)
            if not self._is_compacted:
                own = [self._drop_stray(file, missing) for file in own]
            chains += make_chains(folder, own)
        self._chains = rank_chains(chains)
        self._problems: list[FileProblem] = []
        # For each chain what of it is damaged, ascending.
        self._damage: list[list[Damage]] = []
        # Offsets between two files that a cleaner has taken, or may have.
        self._cleaned: list[Range] = []
        self._weak: list[Range] = []

    def decide(self, writer: TableWriter) -> Decision:
        begins = [
            file.begin for chain in self._chains for file in chain.files if file.batches
        ]
        first_held = min(begins, default=-1)
        start, start_claim = self._find_start(first_held)
        conflicts: dict[str, list[Conflict]] = {}
        aside: dict[str, int] = {}
        while True:
            done = ChoicePass(
                self._chains,
                self._headers,
                start=start,
                aside=aside,
                is_compacted=self._is_compacted,
                step_bytes=self._options.step_bytes,
                limits=self._options.limits,
            )
            more = _extend_aside(done, aside)
            for _, _, conflict in done.judge.conflicts:
                conflicts.setdefault(conflict.loser, []).append(conflict)
            if more == aside:
                break
            aside = more
        log_start = max((f.log_start for f in self._task.folders), default=0)
        end, claim = self._find_end(done)
        if log_start > end:
            log_start = 0
        gaps = list(done.gaps)
        if end > done.reached:
            gaps.append((done.reached, end - 1))
        self._judge_files(end)
        claims = {start: start_claim, end: claim}
        lost = list(self._find_losses(gaps, log_start, claims))
        self._report_doubts(done)
        for several in conflicts.values():
            self._problems.append(_report_conflicts(several))
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
                conflicts
                or done.judge.refused
                or any(source.diverged for source in done.sources)
            ),
            is_compacted=self._is_compacted,
            control_batches=done.control_batches,
            codecs={
                NAMES[codec] if codec < len(NAMES) else str(codec): sums
                for codec, sums in sorted(done.sums.items())
            },
            steps=tuple(done.steps),
            lost=tuple(lost),
            problems=tuple(self._problems),
        )

    def _drop_stray(self, file: FileScan, missing: set[int]) -> FileScan:
        """Leave out a last batch with an offset that nothing leads up to.

        No cleaner was at work, and the bytes before the batch cannot have held that
        many records. So its offset, which no checksum covers, is damaged.
        """
        is_alone = file.batches == 1 and 0 <= file.name_offset < file.begin
        if not is_alone and not file.tail_jump:
            return file
        row = self._headers.read_row(file, file.batches - 1)
        position, size = row["position"], row["size"]
        base, last = row["base_offset"], row["last_offset"]
        before = file.name_offset
        if not is_alone:
            before = self._headers.read_row(file, file.batches - 2)["last_offset"] + 1
        elif file.begin in missing or base - before <= MAX_RECORDS_PER_BYTE * position:
            return file
        detail = f"a batch with offsets {base} to {last} cannot be here"
        stray = FileFlaw(position, size, "offset", detail, low=before)
        # The last offset of a damaged region before the batch is now unknown, and a
        # region after it begins at the offset that is missing now.
        flaws = [
            flaw._replace(high=-1) if flaw.high == base - 1 else flaw
            for flaw in file.flaws
            if flaw.low <= last
        ]
        flaws.append(stray)
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

    def _find_start(self, first_held: int) -> tuple[int, str]:
        """Find where the log begins: what is held or named, or what an epoch says."""
        known = [(first_held, "")] if first_held >= 0 else []
        for chain in self._chains:
            known += [
                (file.name_offset, f"{file.path} is named after it")
                for file in chain.files
                if file.is_genuine and file.name_offset >= 0
            ]
            known += [
                (start, f"the leader epochs of {chain.folder.path} begin there")
                for _, start in chain.folder.epochs[:1]
                if start >= 0
            ]
        return min(known, default=(0, ""))

    def _find_end(self, done: ChoicePass) -> tuple[int, str]:
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
                limit = done.lineage.find_begin_above(chain.epoch)
            claims = list(folder.claims)
            for file in chain.files:
                if file.is_genuine:
                    claims.append((file.name_offset, f"{file.path} is named after it"))
                claims += [
                    (
                        flaw.torn_end,
                        f"{file.path} ends with a damaged batch up to there",
                    )
                    for flaw in file.flaws
                ]
            for offset, claim in claims:
                if end < offset <= limit:
                    end, words = offset, claim
        return end, words

    def _judge_files(self, end: int) -> None:
        """Report the flaws of the files, and the gaps between files."""
        ends = {chain.folder.path: chain.end for chain in reversed(self._chains)}
        for chain in self._chains:
            ends[chain.folder.path] = max(ends[chain.folder.path], chain.end)
        names = {
            file.name_offset
            for chain in self._chains
            for file in chain.files
            if file.is_genuine
        }
        for chain in self._chains:
            own_end = max((claim for claim, _ in chain.folder.claims), default=-1)
            damage, seams, expected = self._judge_chain(chain, end, own_end)
            damages = merge_ranges(each[:2] for each in damage)
            others = sorted(names - {file.name_offset for file in chain.files})
            for first, last, file in seams:
                open_seam = subtract_ranges([(first, last)], damages)
                if self._is_compacted:
                    open_seam = self._judge_cleaned_seam(
                        chain, first, last, open_seam, others
                    )
                for low, high in open_seam:
                    damage.append(self._note_missing(file.path, 0, low, high))
            tail = subtract_ranges([(expected, min(own_end, end) - 1)], damages)
            if chain.end == ends[chain.folder.path] and expected >= 0 and tail:
                last_file = chain.files[-1]
                low, high = tail[0][0], tail[-1][1]
                damage.append(
                    self._note_missing(
                        last_file.path, last_file.segment.size, low, high
                    )
                )
            self._damage.append(sorted(damage))

    def _judge_cleaned_seam(
        self,
        chain: ReplicaChain,
        first: int,
        last: int,
        open_seam: list[Range],
        others: list[int],
    ) -> list[Range]:
        """Judge what is missing between two files of a compacted log.

        A cleaner has taken it; or it may have if ``others``, the names of segments that
        only other folders have, begin there. Where an index without its segment is
        left, that is missing.
        """
        begin = min((o for o in chain.folder.orphans if o >= first), default=last + 1)
        taken = [(low, min(high, begin - 1)) for low, high in open_seam]
        at = bisect_left(others, first)
        if at < len(others) and others[at] <= last:
            self._weak += taken
        else:
            self._cleaned += taken
        return subtract_ranges(open_seam, [(0, begin - 1)])

    def _note_missing(self, path: str, position: int, low: int, high: int) -> Damage:
        detail = f"offsets {low} to {high} are missing"
        self._problems.append(FileProblem(path, position, 0, "gap", detail, low, high))
        return low, high, "missing", f"a gap at byte {position} of {path}"

    def _judge_chain(
        self, chain: ReplicaChain, end: int, own_end: int
    ) -> tuple[list[Damage], list[tuple[int, int, FileScan]], int]:
        """Go through the files: what is damaged, the seams between them, the end."""
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
            # An unknown file after all others covers no offsets.
            costs = is_genuine or bool(followers)
            for flaw in file.flaws:
                found = self._judge_flaw(
                    flaw, file, max(begin, expected), stop, own_end, costs
                )
                if found is not None:
                    damage.append(found)
            if is_genuine:
                expected = max(expected, file.end, begin)
        return damage, seams, expected

    def _judge_flaw(
        self,
        flaw: FileFlaw,
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
        self._problems.append(FileProblem(file.path, *flaw[:4], low, high))
        if low < 0 or high < low:
            return None
        kind = "cut" if flaw.reason == "cut" or flaw.is_tail else "damaged"
        return low, high, kind, f"{flaw.reason} at byte {flaw.position} of {file.path}"

    def _find_losses(
        self, gaps: list[Range], log_start: int, claims: dict[int, str]
    ) -> Iterator[LostRange]:
        """Find which of the offsets that no batch covers were lost, and why."""
        if self._is_compacted:
            damages = merge_ranges(each[:2] for chain in self._damage for each in chain)
            gaps = subtract_ranges(gaps, merge_ranges(self._cleaned))
            gaps = subtract_ranges(
                gaps, subtract_ranges(merge_ranges(self._weak), damages)
            )
        for first, last in gaps:
            first = max(first, log_start)
            if first > last:
                continue
            causes: list[tuple[int, int, str, str]] = []
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
            words += filter(None, (claims.get(first), claims.get(last + 1)))
            yield LostRange(
                first, last, kind, _join_words(words) or "no file holds them"
            )

    def _report_doubts(self, done: ChoicePass) -> None:
        """Report the batches that were not taken although their checksum is right."""
        for source in done.sources:
            self._report_diverged(source, source.diverged)
            row = 0
            for stretch in source.stretches:
                if not stretch.is_right:
                    batch = self._headers.read_row(source.scan, row)
                    detail = (
                        f"leader epoch {batch['partition_leader_epoch']} where the log"
                        f" is of epoch {stretch.epoch}; no checksum covers it"
                    )
                    self._note(source, batch["position"], 0, "leader-epoch", detail)
                row += stretch.batches
        for source, item, reason, detail in done.judge.refused:
            span = item.base, item.last
            self._note(source, item.position, item.size, reason, detail, *span)

    def _note(self, source: SourceFile, *problem: Any) -> None:
        self._problems.append(FileProblem(source.scan.path, *problem))

    def _report_diverged(self, source: SourceFile, rows: Sequence[int]) -> None:
        """Report batches of an epoch that the log does not have, one problem a run."""
        first = 0
        for index in range(1, len(rows) + 1):
            if index < len(rows) and rows[index] == rows[index - 1] + 1:
                continue
            begin = self._headers.read_row(source.scan, rows[first])
            last = self._headers.read_row(source.scan, rows[index - 1])
            position = begin["position"]
            detail = (
                f"offsets {begin['base_offset']} to {last['last_offset']} of leader"
                f" epoch {begin['partition_leader_epoch']} are not of the log: a leader"
                " of a later epoch went on without them"
            )
            length = last["position"] + last["size"] - position
            self._note(source, position, length, "diverged", detail)
            first = index


def _is_named(file: FileScan) -> bool:
    """Whether the file is to be read by its name."""
    return file.segment.base_offset >= 0


def _extend_aside(done: ChoicePass, aside: dict[str, int]) -> dict[str, int]:
    """Add the files that lost a conflict, from the offset that others confirm."""
    more = dict(aside)
    for source, _, conflict in done.judge.conflicts:
        # A winner that has just lost elsewhere settles nothing.
        if conflict.winner in aside or conflict.winner not in more:
            more.setdefault(conflict.loser, source.confirmed_end)
    return more


def _report_conflicts(conflicts: Sequence[Conflict]) -> FileProblem:
    """Make one problem of all conflicts that a file has lost."""
    worst = min(conflicts, key=lambda each: each.position)
    first = min(each.first_offset for each in conflicts)
    last = max(each.last_offset for each in conflicts)
    end = max(each.position + each.size for each in conflicts)
    detail = (
        f"other records at offsets {first} to {last} than {worst.winner}, which is"
        f" taken: {worst.why}"
    )
    length = end - worst.position
    return FileProblem(worst.loser, worst.position, length, "disagrees", detail)


def _join_words(words: Sequence[str]) -> str:
    text = "; ".join(words[:_NAMED])
    more = len(words) - _NAMED
    return f"{text}; and {more} more" if more > 0 else text
