# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LogTables``: tables of ``kafka-log`` as Spark tasks create them, without Spark.

``write_orders`` writes a small topic's log.
"""

import importlib
import json

import pyarrow as pa

from tests.log.log_files import Folder, log_of


class LogTables:
    """Reads tables in the same way as Spark tasks, on one engine and without Spark."""

    def __init__(self, kwire):
        spark = f"{kwire.__name__}.spark"
        self.layout = importlib.import_module(f"{spark}.topics.layout")
        for name in ("options", "planning", "reading"):
            setattr(self, name, importlib.import_module(f"{spark}.log.{name}"))

    def read(self, *paths, columns=None, bounds=None, **settings):
        """Read a table split by split, and return it as one Arrow table."""
        options = self.options.read_options(
            {"paths": json.dumps(list(map(str, paths))), **settings}
        )
        layout = self.layout.default_layout(options)
        if columns is not None:
            choices = self.layout._CHOICES[options.view][1]
            fields = [
                (name, choices.get(name, self.layout._CORRUPT)) for name in columns
            ]
            layout = self.layout.chosen_layout(options, fields)
        schema = self.layout.arrow_schema(layout)
        batches = []
        for split in self.splits(options, bounds):
            batches += self.reading.read_pieces(split, layout, options)
        assert all(batch.schema.equals(schema) for batch in batches)
        return pa.Table.from_batches(batches, schema)

    def splits(self, options, bounds=None):
        planning = self.planning
        partitions = planning.find_partitions(options)
        pieces = planning.plan_pieces(partitions, options, bounds or planning.Bounds())
        return planning.pack(pieces, options)


def offsets(table):
    return table.column("offset").to_pylist()


def write_orders(tmp_path):
    """Write two segments of ten batches with three records each, with 100-byte values.

    Return the directory.
    """
    folder = Folder(tmp_path / "logs" / "orders-0")
    value = b"v" * 100
    folder.first, folder.spans = folder.segment(0, log_of([3] * 10, 0, value=value))
    folder.second, _ = folder.segment(30, log_of([3] * 10, 30, value=value))
    folder.root = tmp_path / "logs"
    return folder
