# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read a topic, and export the metrics of the scan with OpenTelemetry.

    python examples/opentelemetry_metrics.py broker:9092 orders

Requires ``pip install opentelemetry-sdk``. The metrics are printed as JSON every minute
and at the end. To send them to a collector, replace ``ConsoleMetricExporter`` with
``OTLPMetricExporter`` from the package opentelemetry-exporter-otlp.
"""

import sys
from functools import partial

from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    ConsoleMetricExporter,
    PeriodicExportingMetricReader,
)

from kwire import client


def read_number(source, name, options):
    """Return the current value of a metric.

    The metric reader calls this function in its own thread.
    """
    return [Observation(source.metrics()[name])]


def read_lags(source, options):
    """Return the current lag of each partition."""
    return [
        Observation(lag, {"topic": topic, "partition": partition})
        for (topic, partition), lag in source.metrics()["records_lag"].items()
    ]


def observe(meter, source):
    """Create an instrument for every metric of a client, scan, consumer or producer."""
    for name in source.metrics():
        if name == "records_lag":
            read, make = partial(read_lags, source), meter.create_observable_gauge
        else:
            read = partial(read_number, source, name)
            is_counter = name.endswith(("_total", "_total_s"))
            make = (
                meter.create_observable_counter
                if is_counter
                else meter.create_observable_gauge
            )
        unit = "s" if name.endswith("_s") else "By" if "byte" in name else "1"
        make(f"kwire.{name}", [read], unit=unit)


if __name__ == "__main__":
    address, topic = sys.argv[1:]
    exporter = PeriodicExportingMetricReader(ConsoleMetricExporter())
    provider = MeterProvider([exporter])
    with client.connect_sync(address) as kafka:
        scan = kafka.scan(topic)
        observe(provider.get_meter("kwire"), scan)
        for chunk in scan:
            print(chunk.topic, chunk.partition, chunk.next_offset, file=sys.stderr)
    provider.shutdown()
