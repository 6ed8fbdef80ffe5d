# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Second export pass: decides which batches of every partition are read.

``decide`` is the task function. For every partition it groups segment files into
chains, loads their batch headers as arrays, chooses the batches to read, and explains
offsets that no batch covers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._limits import Limits
from ...log.walk import MAX_RECORDS_PER_BYTE
from ...messages.arrow_types import make_arrow_schema
from ...records.compression import NAMES
from ...schema.batch_layout import CODEC_MASK, CONTROL
from ...schema.topic_names import COMPACTED_TOPICS
from ..tables import open_table
from .batches import BATCHES, write_batches
from .choice import ReadStep, choose
from .conflicts import ConflictJudge
from .header_rows import read_row, split_runs
from .losses import Evidence
from .partition_batches import USED, PartitionBatches
from .problems import FileProblem, LostRange
from .replicas import (
    NEVER,
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
    from .choice import Choice
    from .conflicts import Conflict


class PartitionTask(NamedTuple):
    """Input of a decision for one partition.

    * ``folders``: partition directories, one per replica.
    * ``files``: scan results of all segment files in these directories.
    """

    topic: str
    partition: int
    folders: tuple[ReplicaFolder, ...]
    files: tuple[FileScan, ...]


class DecideTask(NamedTuple):
    """Input for a decision task.

    * ``partitions``: partitions to decide.
    * ``batches``: path of the Parquet file for their rows in the table ``batches``.
    * ``step_bytes``: maximum read step size in bytes.
    * ``compression``: Parquet codec.
    * ``limits``: decoding limits for a single batch.
    """

    partitions: tuple[PartitionTask, ...]
    batches: str
    step_bytes: int
    compression: str
    limits: Limits


class CodecSums(NamedTuple):
    """Totals for the chosen batches with one compression codec.

    * ``batches``: number of batches, including control batches.
    * ``bytes``: total size of these batches in bytes.
    * ``records``: number of records, without control records.
    """

    batches: int = 0
    bytes: int = 0
    records: int = 0


class Decision(NamedTuple):
    """Result for one partition: what is read and what is lost.

    * ``end_offset``: offset after the last known offset.
    * ``replicas``: number of partition directories.
    * ``replicas_agree``: False if a batch was rejected or has diverged.
    """

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
    """Decide all partitions of a task, and write their batches to a Parquet file."""
    schema = make_arrow_schema(BATCHES)
    with open_table(task.batches, schema, compression=task.compression) as writer:
        return [
            _decide_partition(partition, task, writer) for partition in task.partitions
        ]


def _decide_partition(
    task: PartitionTask, options: DecideTask, writer: TableWriter
) -> Decision:
    is_compacted = (
        task.topic in COMPACTED_TOPICS
        or any(folder.is_compacted for folder in task.folders)
        or any(file.holes for file in task.files)
    )
    batches = PartitionBatches(_form_chains(task, is_compacted))
    first_held = min((file.begin for file in batches.files if file.batches), default=-1)
    start, start_claim = _find_start(batches, first_held)
    choice, judge, conflicts = _choose_without_losers(
        batches, start, is_compacted, options
    )
    end, end_claim = _find_end(batches, choice.reached)
    log_start = max((folder.log_start for folder in task.folders), default=0)
    if log_start > end:
        log_start = 0
    evidence = Evidence(batches.chains, end, is_compacted)
    gaps = [
        (max(first, log_start), last)
        for first, last in (*choice.gaps, (choice.reached, end - 1))
        if max(first, log_start) <= last
    ]
    lost = evidence.explain(gaps, {start: start_claim, end: end_claim})
    write_batches(writer, (task.topic, task.partition), batches, choice.uses)
    if first_held >= 0:
        start = min(first_held, max(start, log_start))
    used = batches.headers[choice.uses == USED]
    is_control = used["attributes"] & CONTROL != 0
    codecs = used["attributes"] & CODEC_MASK
    return Decision(
        topic=task.topic,
        partition=task.partition,
        start_offset=start,
        end_offset=max(end, start),
        log_start_offset=log_start,
        replicas=len(task.folders),
        replicas_agree=not (conflicts or judge.refused or batches.is_diverged.any()),
        is_compacted=is_compacted,
        control_batches=int(is_control.sum()),
        codecs={
            NAMES[codec] if codec < len(NAMES) else str(codec): CodecSums(
                int((codecs == codec).sum()),
                int(used["size"][codecs == codec].sum()),
                int(used["record_count"][(codecs == codec) & ~is_control].sum()),
            )
            for codec in sorted(set(codecs.tolist()))
        },
        steps=choice.steps,
        lost=tuple(lost),
        problems=(
            *evidence.problems,
            *_report_diverged(batches),
            *_report_epochs(batches),
            *_report_refused(batches, judge),
            *(
                _report_conflicts(batches, file_conflicts)
                for file_conflicts in conflicts.values()
            ),
        ),
    )


def _form_chains(task: PartitionTask, is_compacted: bool) -> list[ReplicaChain]:
    """Group the segment files of a partition into chains, sorted by descending rank."""
    chains: list[ReplicaChain] = []
    for folder in task.folders:
        files = [file for file in task.files if file.folder == folder.path]
        missing = find_missing_names(files)
        files = choose_scans(files, missing)
        if not is_compacted:
            files = [_drop_stray(file, missing) for file in files]
        chains += make_chains(folder, files)
    return rank_chains(chains)


def _drop_stray(file: FileScan, missing: set[int]) -> FileScan:
    """Remove the last batch in a file if its offset is impossibly high.

    In a log without compaction, every skipped offset was a record. If the damaged bytes
    before the batch are too small for so many records, the batch's base offset must be
    damaged: the checksum does not cover it. Returns the file unchanged if the offset is
    possible.
    """
    is_alone = file.batches == 1 and 0 <= file.name_offset < file.begin
    if not is_alone and not file.tail_jump:
        return file
    headers = file.read_headers()
    stray = read_row(headers, -1)
    base, last = stray.base_offset, stray.last_offset
    if is_alone:
        previous_end = file.name_offset
        possible = MAX_RECORDS_PER_BYTE * stray.position
        if file.begin in missing or base - previous_end <= possible:
            return file
    else:
        previous_end = int(headers["last_offset"][-2]) + 1
    detail = f"offsets {base} to {last} are not possible for this batch"
    flaw = FileFlaw(stray.position, stray.size, "offset", detail, low=previous_end)
    # If a damaged region before the batch ended at its base offset, its end is now
    # unknown. A region after the batch now begins at the missing offset.
    flaws = [
        file_flaw._replace(high=-1) if file_flaw.high == base - 1 else file_flaw
        for file_flaw in file.flaws
        if file_flaw.low <= last
    ]
    flaws.append(flaw)
    flaws += [
        file_flaw._replace(low=previous_end)
        for file_flaw in file.flaws
        if file_flaw.low > last
    ]
    *runs, run = file.epochs
    if run.batches > 1:
        runs.append(run._replace(last_offset=previous_end - 1, batches=run.batches - 1))
    return file._replace(
        batches=file.batches - 1,
        good_bytes=file.good_bytes - stray.size,
        begin=file.begin if file.batches > 1 else -1,
        end=previous_end if file.batches > 1 else -1,
        epochs=tuple(runs),
        flaws=tuple(flaws),
    )


def _find_start(batches: PartitionBatches, first_held: int) -> tuple[int, str]:
    """Find the log's first offset, and a sentence that explains it.

    The start is the minimum of batch offsets, segment file names and leader epoch
    checkpoints. The sentence is empty if a batch has this offset.
    """
    starts = [(first_held, "")]
    starts += [
        (file.name_offset, f"{file.path} is named after it")
        for file in batches.files
        if file.is_genuine
    ]
    starts += [
        (start, f"the leader epochs of {chain.folder.path} begin there")
        for chain in batches.chains
        for _, start in chain.folder.epochs[:1]
    ]
    return min(
        (candidate for candidate in starts if candidate[0] >= 0), default=(0, "")
    )


def _find_end(batches: PartitionBatches, reached: int) -> tuple[int, str]:
    """Find the log end offset, and a sentence that explains it.

    The sentence is empty if a batch ends there. If a later leader has continued the log
    without a directory's last batches, then claims from this directory only count up to
    the first offset in the next leader epoch.
    """
    end, explanation = reached, ""
    highest_epoch = max((chain.epoch for chain in batches.chains), default=-1)
    diverged = set(batches.file[batches.is_diverged].tolist())
    cut_off = {batches.files[file].folder for file in diverged}
    for chain in batches.chains:
        limit = NEVER
        if chain.epoch < highest_epoch or chain.folder.path in cut_off:
            limit = batches.lineage.find_window(chain.epoch)[1] + 1
        claims = list(chain.folder.claims)
        for file in chain.files:
            if file.is_genuine:
                claims.append((file.name_offset, f"{file.path} is named after it"))
            torn_claim = f"{file.path} ends with a damaged batch up to there"
            claims += [(flaw.torn_end, torn_claim) for flaw in file.flaws]
        for offset, claim in claims:
            if end < offset <= limit:
                end, explanation = offset, claim
    return end, explanation


def _choose_without_losers(
    batches: PartitionBatches, start: int, is_compacted: bool, options: DecideTask
) -> tuple[Choice, ConflictJudge, dict[str, list[Conflict]]]:
    """Choose batches repeatedly, until no further file has to be set aside.

    If a file loses a conflict, its last batches are set aside, from the batch after the
    last batch that another replica confirms. The choice is then repeated without these
    batches. Returns the last choice, the judge of this choice, and the conflicts from
    all rounds by losing file.
    """
    conflicts: dict[str, list[Conflict]] = {}
    aside: dict[str, int] = {}
    while True:
        judge = ConflictJudge(batches, is_compacted, options.limits)
        choice = choose(batches, judge, start, aside, options.step_bytes)
        next_aside = dict(aside)
        for conflict in judge.conflicts:
            loser = batches.path(conflict.row)
            conflicts.setdefault(loser, []).append(conflict)
            # Ignore a conflict whose winning file has just lost another conflict in
            # this round. The next round decides it again.
            if conflict.winner in aside or conflict.winner not in next_aside:
                next_aside.setdefault(
                    loser, choice.shared_ends[batches.file[conflict.row]]
                )
        if next_aside == aside:
            return choice, judge, conflicts
        aside = next_aside


def _report_diverged(batches: PartitionBatches) -> Iterator[FileProblem]:
    """Yield a problem for every run of batches that a later leader has replaced."""
    rows = batches.is_diverged.nonzero()[0]
    for first, stop in split_runs(batches.file[rows], rows - range(len(rows))):
        begin, last = batches.read(rows[first]), batches.read(rows[stop - 1])
        detail = (
            f"offsets {begin.base_offset} to {last.last_offset} of leader epoch"
            f" {begin.partition_leader_epoch} are not part of the log: the leader of a"
            " later epoch replaced them"
        )
        length = last.position + last.size - begin.position
        path = batches.path(rows[first])
        yield FileProblem(path, begin.position, length, "diverged", detail)


def _report_epochs(batches: PartitionBatches) -> Iterator[FileProblem]:
    """Yield a problem for every run of batches with an incorrect leader epoch."""
    for row, stretch in batches.list_stretches():
        if not stretch.is_right:
            header = batches.read(row)
            detail = (
                f"leader epoch {header.partition_leader_epoch}, but the log has leader"
                f" epoch {stretch.epoch} here; no checksum covers this field"
            )
            path = batches.path(row)
            yield FileProblem(path, header.position, 0, "leader-epoch", detail)


def _report_refused(
    batches: PartitionBatches, judge: ConflictJudge
) -> Iterator[FileProblem]:
    """Yield a problem for every batch with a proven error."""
    for row, reason, detail in judge.refused:
        header = batches.read(row)
        offsets = header.base_offset, header.last_offset
        location = batches.path(row), header.position, header.size
        yield FileProblem(*location, reason, detail, *offsets)


def _report_conflicts(
    batches: PartitionBatches, conflicts: Sequence[Conflict]
) -> FileProblem:
    """Merge all conflicts that a file has lost into a single problem."""
    headers = batches.headers[[conflict.row for conflict in conflicts]]
    earliest = conflicts[headers["position"].argmin()]
    position, end = (
        headers["position"].min(),
        (headers["position"] + headers["size"]).max(),
    )
    detail = (
        f"records at offsets {headers['base_offset'].min()} to"
        f" {headers['last_offset'].max()} differ from those of {earliest.winner}, which"
        f" are used: {earliest.why}"
    )
    length = int(end - position)
    return FileProblem(
        batches.path(earliest.row), int(position), length, "disagrees", detail
    )
