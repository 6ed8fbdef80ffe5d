# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record batches as objects, as columns, and as Arrow tables.

The package also provides codecs, conversion between formats, and key partitioners.
Brokers, files and the messages that contain batches do not belong here.
May import: ``errors``, ``_limits``, ``_text``, ``schema``, ``_engine``, ``messages``.

Names are resolved on first use, so that importing this package loads no engine.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._engine.record_types import Headers as Headers
    from .._engine.record_types import RecordLike as RecordLike
    from . import arrow as arrow
    from . import columns as columns
    from . import compression as compression
    from . import partitioners as partitioners
    from .batches import BatchBuilder as BatchBuilder
    from .batches import decode_batches as decode_batches
    from .batches import decode_records as decode_records
    from .batches import encode_batch as encode_batch
    from .batches import iter_records as iter_records
    from .batches import measure_run as measure_run
    from .batches import read_batch_header as read_batch_header
    from .batches import read_last_header as read_last_header
    from .classes import AbortedTransaction as AbortedTransaction
    from .classes import Batch as Batch
    from .classes import BatchHeader as BatchHeader
    from .classes import Record as Record
    from .classes import TransactionFilter as TransactionFilter
    from .conversion import ConversionReport as ConversionReport
    from .conversion import convert_batches as convert_batches
else:
    # Hidden from type checkers, so that they report names which are not imported above.
    _HOMES = {
        "Batch": "classes",
        "BatchBuilder": "batches",
        "BatchHeader": "classes",
        "ConversionReport": "conversion",
        "Record": "classes",
        "TransactionFilter": "classes",
        "convert_batches": "conversion",
        "decode_batches": "batches",
        "decode_records": "batches",
        "encode_batch": "batches",
        "iter_records": "batches",
        "measure_run": "batches",
        "read_batch_header": "batches",
        "read_last_header": "batches",
    }
    _MODULES = ("arrow", "columns", "compression", "partitioners")
    __all__ = [*_HOMES, *_MODULES]

    def __getattr__(name: str) -> object:
        home = _HOMES.get(name, name)
        if home is name and name not in _MODULES:
            from .._text.name_advice import describe_missing

            raise AttributeError(describe_missing("kwire.records", name, __all__))
        # Avoid importlib here, because importing importlib itself is slow.
        value = __import__(f"{__name__}.{home}", fromlist=[home])
        if home is not name:
            value = getattr(value, name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES, *_MODULES})
