# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Follow a topic, and serve the metrics of the scan to Prometheus until Ctrl-C.

    python examples/prometheus_metrics.py broker:9092 orders 9400

Requires ``pip install prometheus-client``. If the port is 0, a free port is selected.
"""

import sys

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from kwire import client


class KafkaCollector(Collector):
    """Prometheus collector for the metrics of a client, scan, consumer or producer."""

    def __init__(self, source):
        self._source = source

    def collect(self):
        """Read the metrics.

        The HTTP server calls this method in its thread for a scrape.
        """
        for name, value in self._source.metrics().items():
            if name == "records_lag":
                labels = ["topic", "partition"]
                family = GaugeMetricFamily(f"kwire_{name}", name, labels=labels)
                for (topic, partition), lag in value.items():
                    family.add_metric([topic, str(partition)], lag)
                yield family
                continue
            is_counter = name.endswith(("_total", "_total_s"))
            # Remove _total, because the library appends it to the names of counters.
            metric = f"kwire_{name}".replace("_total", "")
            if metric.endswith("_s"):
                metric = f"{metric}econds"
            make = CounterMetricFamily if is_counter else GaugeMetricFamily
            yield make(metric, name, value=value)


if __name__ == "__main__":
    address, topic, port = sys.argv[1:]
    with client.connect_sync(address) as kafka:
        scan = kafka.scan(topic, follow=True)
        registry = CollectorRegistry()
        registry.register(KafkaCollector(scan))
        server, thread = start_http_server(int(port), "127.0.0.1", registry)
        print(f"http://127.0.0.1:{server.server_port}/metrics", flush=True)
        try:
            for chunk in scan:
                print(chunk.topic, chunk.partition, chunk.next_offset, flush=True)
        except KeyboardInterrupt:
            server.shutdown()
            server.server_close()
            thread.join()
