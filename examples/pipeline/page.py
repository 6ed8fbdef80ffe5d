# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""HTML report of the demo: charts of traffic, negotiation, records and the race.

The numbers are read from the recording, the tables of the jobs and the race. The report
is a single HTML file with inline SVG charts, and loads no external resources.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet

from kwire import messages
from kwire.jobs import charts
from kwire.jobs.chart_text import shorten, to_milliseconds
from kwire.jobs.report import Report
from kwire.jobs.tables import Result
from kwire.messages import framing
from kwire.recording import read_captures

from . import brokers, old_client, race, traffic
from .frames import Frame, is_odd

TIME_STEPS = 60
LABEL_CHARACTERS = 16
NEGOTIATES = messages.ApiVersionsRequest.api_key
ENGINE_NAMES = {"fast": "compiled", "pure": "pure Python"}


class Results(NamedTuple):
    """Results of all steps of the demo, which the page displays."""

    traffic: traffic.Traffic
    audit: Result
    export: Result
    offsets: Result
    log: race.Log
    medians: dict[tuple[str, str], float]
    checks: int

    @property
    def reports(self) -> list[Path]:
        """Report paths of the three jobs, relative to the current directory."""
        jobs = self.audit, self.export, self.offsets
        return [Path(job.report).relative_to(Path.cwd()) for job in jobs]


def write(folder: Path, results: Results) -> Path:
    """Write ``index.html`` to a directory, and return its path."""
    recorded = list(read_frames(folder / "capture"))
    gains = race.gains(results.medians)
    report = Report(
        "kwire demo", "Kafka's bytes, from the wire and from disks to reports"
    )
    report.add_verdict(
        "good",
        f"{results.checks} checks",
        "held: the results equal those of Kafka's own tools and of other clients",
    )
    report.add_figures(
        [
            ("messages", f"{results.traffic.received:,}", ""),
            ("frames", f"{len(recorded):,}", ""),
            ("clients that break", f"{results.audit.findings:,}", "bad"),
            ("records recovered", f"{results.export.counts['records']:,}", "good"),
            ("faster in Spark", f"{gains[0]:.1f}x", "good"),
            ("faster alone", f"{gains[1]:.1f}x", "good"),
        ]
    )
    report.add_links(
        [
            (f"{path.parent.name} report", path.relative_to(folder).as_posix())
            for path in results.reports
        ]
    )
    add_traffic(report, recorded)
    add_negotiation(report, recorded)
    add_records(report, recorded, results.traffic.received)
    add_recovery(report, results.export)
    add_race(report, results)
    path = folder / "index.html"
    path.write_text(report.html(), "utf-8")
    return path


class Recorded(NamedTuple):
    """Recorded frame, the time of its recording, and its size in bytes."""

    frame: Frame
    moment: datetime
    size: int


def read_frames(capture: Path) -> Iterator[Recorded]:
    """Yield the frames of a recording in their original order."""
    names = [*Frame._fields, "timestamp", "size"]
    for batch in read_captures(capture, names):
        for *values, moment, size in zip(
            *(batch.column(name).to_pylist() for name in names), strict=True
        ):
            yield Recorded(Frame(*values), moment, size)


def add_traffic(report: Report, recorded: list[Recorded]) -> None:
    """Add two charts: requests by client and API, and bytes over time."""
    requests = Counter(
        (api_name(frame.api_key), frame.client_id)
        for frame, _, _ in recorded
        if frame.direction == "request"
    )
    apis = Counter(api for api, _ in requests.elements())
    columns = {client: client_name(client) for _, client in requests}
    cells = {
        (api, columns[client]): charts.HeatCell(
            count, "bad" if client == old_client.CLIENT_ID else ""
        )
        for (api, client), count in requests.items()
    }
    report.add_chart(
        "Traffic: requests by API and client",
        charts.draw_heat_map(
            [api for api, _ in apis.most_common()],
            sorted(columns.values()),
            cells,
            legend={"bad": "versions that Kafka 4 has removed"},
        ),
        "kwire record relayed and stored every request and response of these clients."
        " The columns gzip, lz4, none, snappy and zstd are producers, each with one"
        " compression codec. invoices writes in a transaction. billing reads in a"
        " group. inventory is a client of 2013.",
    )
    report.add_chart(
        "Traffic: bytes over time",
        charts.draw_lines(dict(sum_over_time(recorded)), "bytes"),
        "Bytes of requests and of responses through kwire record. The producers run"
        " first, then the consumer reads everything.",
    )


def sum_over_time(
    recorded: list[Recorded],
) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """Yield ("requests", points) and ("responses", points) for a chart.

    A point is the start of a time interval in milliseconds, and the number of bytes in
    it.
    """
    times = [to_milliseconds(moment) for _, moment, _ in recorded]
    start, end = min(times), max(times)
    step = (end - start) // TIME_STEPS + 1
    for direction in "request", "response":
        sums = Counter(
            {start + number * step: 0 for number in range((end - start) // step + 1)}
        )
        for (frame, _, size), at in zip(recorded, times, strict=True):
            if frame.direction == direction:
                sums[at - (at - start) % step] += size
        yield f"{direction}s", sorted(sums.items())


def add_negotiation(report: Report, recorded: list[Recorded]) -> None:
    """Add a chart of the supported, offered and selected versions of each API."""
    offered = find_offer(frame for frame, _, _ in recorded)
    chosen: dict[tuple[int, bool], set[int]] = {}
    for frame, _, _ in recorded:
        if frame.direction == "request" and frame.api_key != NEGOTIATES:
            is_old = frame.client_id == old_client.CLIENT_ID
            chosen.setdefault((frame.api_key, is_old), set()).add(frame.api_version)
    newest = max(api_versions(key)[-1] for key, _ in chosen)
    tracks = []
    for key in sorted({key for key, _ in chosen}):
        known = api_versions(key)
        spans = [charts.Span(known[0], known[-1] + 1, "quiet", "known to kwire")]
        if key in offered:
            first, last = offered[key]
            spans.append(charts.Span(first, last + 1, "", "offered by the broker"))
        good, old = chosen.get((key, False), set()), chosen.get((key, True), set())
        for versions, tone, note in (
            (good, "good", "negotiated"),
            (old, "bad", "sent without negotiation"),
        ):
            spans += [charts.Span(v, v + 1, tone, note) for v in versions]
        words = ", ".join(f"v{version}" for version in sorted(good | old))
        tracks.append(charts.Track(api_name(key), 0, newest + 1, spans, words))
    report.add_chart(
        "Negotiation: versions of each API",
        charts.draw_coverage(
            tracks,
            legend={
                "quiet": "known to kwire",
                "": "offered by the broker",
                "good": "negotiated",
                "bad": "sent by the client of 2013",
            },
        ),
        f"Version 0 is at the left, version {newest} at the right. Each client asks"
        " the broker for its ranges with ApiVersions, then sends the highest version"
        " that both support. The client of 2013 asks nothing; brokers of Kafka 4 have"
        " removed its versions, which is what the audit reports.",
    )


def find_offer(frames: Iterable[Frame]) -> dict[int, tuple[int, int]]:
    """Return the versions that the broker offers in an ApiVersions response.

    The result maps each API key to its minimum and maximum version.
    """
    for frame in frames:
        if (
            frame.api_key == NEGOTIATES
            and frame.direction == "response"
            and not is_odd(frame)
        ):
            _, answer = framing.decode_response(
                messages.ApiVersionsResponse, frame.frame, frame.api_version
            )
            return {
                offer.api_key: (offer.min_version, offer.max_version)
                for offer in answer.api_keys
            }
    return {}


def add_records(report: Report, recorded: list[Recorded], messages_sent: int) -> None:
    """Add a chart that compares codecs by the size of equal numbers of messages."""
    # The messages are divided equally between the producers: one for each codec, and
    # the transactional producer.
    share = messages_sent // (len(traffic.CODECS) + 1)
    bytes_by_client: Counter[str] = Counter()
    for frame, _, _ in recorded:
        is_produce = frame.api_key == messages.ProduceRequest.api_key
        is_request = frame.direction == "request"
        if is_produce and is_request and frame.client_id.startswith("shop-"):
            _, request = framing.decode_request(frame.frame)
            bytes_by_client[frame.client_id] += sum(
                len(partition.records or b"")
                for topic in request.topic_data
                for partition in topic.partition_data
            )
    plain = bytes_by_client["shop-none"] or 1
    report.add_chart(
        "Records: bytes by compression codec",
        charts.draw_bars(
            [
                (client_name(client), size, "", f"{size / plain:.0%}")
                for client, size in bytes_by_client.most_common()
            ],
            "bytes",
        ),
        f"Record batches of {share:,} messages for each codec, as they were in the"
        " Produce requests. kwire decoded and encoded all of them on both engines, and"
        " the bytes were the same.",
    )


def add_recovery(report: Report, export: Result) -> None:
    """Add a chart of the recovered and the lost offsets of each damaged partition."""
    coverage, lost = (
        pyarrow.parquet.read_table(export.tables[name]).to_pylist()
        for name in ("coverage", "lost")
    )
    coverage.sort(key=lambda row: (-row["lost_offsets"], row["topic"]))
    damaged = {brokers.split(injury.partition) for injury in brokers.INJURIES}
    tracks = []
    for row in coverage:
        partition = row["topic"], row["partition"]
        if partition not in damaged:
            continue
        spans = [
            charts.Span(each["first_offset"], each["last_offset"] + 1, "good")
            for each in row["ranges"]
        ]
        spans += [
            charts.Span(each["first_offset"], each["last_offset"] + 1, "bad")
            for each in lost
            if (each["topic"], each["partition"]) == partition
        ]
        tracks.append(
            charts.Track(
                f"{partition[0]}-{partition[1]}",
                row["start_offset"],
                row["end_offset"],
                spans,
                f"{row['recovered_percent']:.4g} %",
            )
        )
    report.add_chart(
        "Records: recovered from two damaged disks",
        charts.draw_coverage(tracks, legend={"good": "recovered", "bad": "lost"}),
        "Offsets of each damaged partition, from its first to its last. Two brokers"
        " had a copy each. Only batches that are damaged in both copies are lost.",
    )


def add_race(report: Report, results: Results) -> None:
    """Add a chart with the records per second of both engines."""
    items = []
    for kind in race.KINDS:
        for engine in race.ENGINES:
            rate = results.log.records / results.medians[kind, engine]
            tone = "good" if engine == "fast" else ""
            items.append((f"{ENGINE_NAMES[engine]}, {kind}", round(rate), tone, ""))
    gains = race.gains(results.medians)
    report.add_chart(
        "Race: records per second",
        charts.draw_bars(items),
        f"The same {results.log.records:,} records ({results.log.size / 1e6:.0f} MB of"
        f" log files). In Spark on {race.CORES} cores the compiled engine is"
        f" {gains[0]:.1f} times as fast as pure Python. Alone, on one core, making"
        f" Arrow arrays, it is {gains[1]:.1f} times as fast. Medians of"
        f" {race.ROUNDS} rounds.",
    )


def api_name(key: int) -> str:
    """Return the name of an API, shortened for a label."""
    name = messages.by_key(key, "request").__name__.removesuffix("Request")
    return shorten(name, LABEL_CHARACTERS)


def api_versions(key: int) -> tuple[int, int]:
    """Return the minimum and the maximum version of an API that kwire supports."""
    versions = messages.by_key(key, "request").valid_versions
    return min(versions), max(versions)


def client_name(client_id: str) -> str:
    """Return the unique part of a client id, for example "gzip" for "shop-gzip"."""
    name = client_id.removeprefix("shop-")
    return name.partition("-")[0]
