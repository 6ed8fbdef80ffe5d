# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decode a request frame and print it as JSON (kwire.messages).

    python examples/decode.py 000000130003000c00000007000473686f700000010000

The argument is hexadecimal and contains one frame with its INT32 size.
"""

import json
import sys

import kwire
from kwire.messages import framing

frame = bytes.fromhex(sys.argv[1])
try:
    header, request = framing.decode_request(frame[4:])
except kwire.KwireError as error:
    sys.exit(f"{type(error).__name__}: {error}")
print(type(request).__name__, header.request_api_version, header.client_id)
print(json.dumps(kwire.to_json(request, header.request_api_version), indent=2))
