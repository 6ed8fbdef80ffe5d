# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded traffic: the frames of clients and brokers, as rows of Parquet.

    with Recorder("127.0.0.1:0", "broker:9092", "captures/") as recorder:
        ...                                  # clients bootstrap from recorder.address
    for batch in read_captures("captures/"):
        ...                                  # a pyarrow.RecordBatch of frames

``relay`` listens, ``relay_connections`` moves the frames, and ``recorder`` has a thread
for both. ``pairing`` finds the request of a response, ``rewriting`` keeps clients on
the relay, ``buffering`` decides when rows become files, and ``capture_files`` what the
files are. ``kwire record`` is the command.
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
