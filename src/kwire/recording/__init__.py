# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Records the traffic between Kafka clients and brokers as rows in Parquet files.

``Recorder`` runs the relay in a background thread. ``read_captures`` reads its files.
``relay_connections`` forwards frames, ``pairing`` matches responses with requests,
``rewriting`` replaces broker addresses so that clients stay on the relay, and
``buffering`` decides when rows are written. Reports about recordings are in ``jobs``.
May import: ``errors``, ``_limits``, ``_files``, ``_text``, ``schema``, ``messages``,
``connection``, ``client``.
"""

from .capture_files import CAPTURE_COLUMNS as CAPTURE_COLUMNS
from .capture_files import CAPTURE_TYPES as CAPTURE_TYPES
from .capture_files import CaptureError as CaptureError
from .capture_files import CaptureFile as CaptureFile
from .capture_files import capture_schema as capture_schema
from .capture_files import list_capture_files as list_capture_files
from .capture_files import read_capture_file as read_capture_file
from .capture_files import read_captures as read_captures
from .pairing import Conversation as Conversation
from .recorder import Recorder as Recorder
from .relay import Relay as Relay
from .relay_connections import ListenError as ListenError
