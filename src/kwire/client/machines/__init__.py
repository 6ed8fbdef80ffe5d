# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State machines for communicating with brokers, without sockets, threads or a clock.

A runner (``client/runners``) connects a machine to sockets and to the clock. Tests
connect it to simulated brokers and a simulated clock. The runner has three duties:

* Open the links that ``ClusterMachine.take_new_links`` returns, and transfer their
  bytes.
* Call ``advance`` with the current time after every event, and at ``wake_at``.
* Call ``close`` at the end.

The names of this package are imported on first access, so that a program that only
scans topics does not load producers and groups.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..errors import AuthenticationFailed as AuthenticationFailed
    from ..errors import BrokersUnreachable as BrokersUnreachable
    from ..errors import ClusterError as ClusterError
    from ..errors import DataLost as DataLost
    from ..errors import DeliveryFailed as DeliveryFailed
    from ..errors import FeatureUnsupported as FeatureUnsupported
    from ..errors import NotAuthorized as NotAuthorized
    from ..errors import OutcomeUnknown as OutcomeUnknown
    from ..errors import PartitionLost as PartitionLost
    from ..errors import ProducerFenced as ProducerFenced
    from ..errors import RequestRefused as RequestRefused
    from ..errors import TopicNotFound as TopicNotFound
    from ..errors import TransactionFailed as TransactionFailed
    from .broker_versions import BrokerVersions as BrokerVersions
    from .broker_versions import BrokerVersionsMachine as BrokerVersionsMachine
    from .cluster import ClusterMachine as ClusterMachine
    from .coordinators import Coordinators as Coordinators
    from .coordinators import CoordinatorType as CoordinatorType
    from .group.machine import ConsumerMachine as ConsumerMachine
    from .group.options import GroupMetadata as GroupMetadata
    from .group.options import GroupOptions as GroupOptions
    from .link import Link as Link
    from .metadata import Broker as Broker
    from .metadata import PartitionInfo as PartitionInfo
    from .metadata import TopicInfo as TopicInfo
    from .produce.machine import ProducerMachine as ProducerMachine
    from .produce.options import ProducerOptions as ProducerOptions
    from .produce.options import Receipt as Receipt
    from .produce.pending_batch import PendingBatch as PendingBatch
    from .produce.record_batcher import Batcher as Batcher
    from .produce.record_batcher import RecordBatcher as RecordBatcher
    from .produce.record_batcher import check_partition as check_partition
    from .produce.record_batcher import choose_by_key as choose_by_key
    from .produce.transactions import PendingOffsets as PendingOffsets
    from .queries import OffsetsMachine as OffsetsMachine
    from .queries import SizesMachine as SizesMachine
    from .queries import TopicsMachine as TopicsMachine
    from .request.machine import RequestMachine as RequestMachine
    from .scan.frame_budget import FrameBudget as FrameBudget
    from .scan.machine import ScanMachine as ScanMachine
    from .scan.options import EARLIEST as EARLIEST
    from .scan.options import LATEST as LATEST
    from .scan.options import Fetched as Fetched
    from .scan.options import Lookup as Lookup
    from .scan.options import ScanOptions as ScanOptions
    from .settings import ClusterSettings as ClusterSettings
else:
    # Type checkers must not see ``__getattr__``. Otherwise, they would accept any name.
    _HOMES = {
        "Coordinators": ".coordinators",
        "CoordinatorType": ".coordinators",
        "AuthenticationFailed": "..errors",
        "BrokersUnreachable": "..errors",
        "ClusterError": "..errors",
        "DataLost": "..errors",
        "DeliveryFailed": "..errors",
        "FeatureUnsupported": "..errors",
        "NotAuthorized": "..errors",
        "OutcomeUnknown": "..errors",
        "PartitionLost": "..errors",
        "ProducerFenced": "..errors",
        "RequestRefused": "..errors",
        "TopicNotFound": "..errors",
        "TransactionFailed": "..errors",
        "FrameBudget": ".scan.frame_budget",
        "ConsumerMachine": ".group.machine",
        "GroupMetadata": ".group.options",
        "GroupOptions": ".group.options",
        "Link": ".link",
        "BrokerVersions": ".broker_versions",
        "BrokerVersionsMachine": ".broker_versions",
        "ClusterMachine": ".cluster",
        "Broker": ".metadata",
        "PartitionInfo": ".metadata",
        "TopicInfo": ".metadata",
        "PendingBatch": ".produce.pending_batch",
        "ProducerMachine": ".produce.machine",
        "ProducerOptions": ".produce.options",
        "Receipt": ".produce.options",
        "OffsetsMachine": ".queries",
        "SizesMachine": ".queries",
        "TopicsMachine": ".queries",
        "Batcher": ".produce.record_batcher",
        "RecordBatcher": ".produce.record_batcher",
        "check_partition": ".produce.record_batcher",
        "choose_by_key": ".produce.record_batcher",
        "RequestMachine": ".request.machine",
        "ScanMachine": ".scan.machine",
        "EARLIEST": ".scan.options",
        "LATEST": ".scan.options",
        "Fetched": ".scan.options",
        "Lookup": ".scan.options",
        "ScanOptions": ".scan.options",
        "ClusterSettings": ".settings",
        "PendingOffsets": ".produce.transactions",
    }
    __all__ = [*_HOMES]

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name], __name__), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES})
