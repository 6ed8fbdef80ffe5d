# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State machines that talk to brokers, without a socket, a thread or a clock.

``client`` runs them over sockets, the tests with simulated brokers and time.
``advance`` moves a machine; the links that it opens take and return bytes.
"""

from .errors import AuthenticationRefused as AuthenticationRefused
from .errors import BrokersUnreachable as BrokersUnreachable
from .errors import ClusterError as ClusterError
from .errors import DataLost as DataLost
from .errors import NotAuthorized as NotAuthorized
from .errors import RequestRefused as RequestRefused
from .errors import TopicNotFound as TopicNotFound
from .link import Link as Link
from .machine import ClusterMachine as ClusterMachine
from .metadata import Broker as Broker
from .metadata import PartitionInfo as PartitionInfo
from .metadata import TopicInfo as TopicInfo
from .queries import OffsetsMachine as OffsetsMachine
from .queries import SizesMachine as SizesMachine
from .queries import TopicsMachine as TopicsMachine
from .scan import ScanMachine as ScanMachine
from .scan_options import EARLIEST as EARLIEST
from .scan_options import LATEST as LATEST
from .scan_options import Fetched as Fetched
from .scan_options import Lookup as Lookup
from .scan_options import ScanOptions as ScanOptions
from .settings import ClusterSettings as ClusterSettings
