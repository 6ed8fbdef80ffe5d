# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Print each byte of a request frame with its field and value (kwire.explain).

python examples/explain.py 00000010001200040000002a0005616c696365
"""

import sys

from kwire import explain

data = bytes.fromhex(sys.argv[1])
frame_map = explain.frame_map(data, sized=True)
for span in frame_map.spans:
    shown = data[span.position : span.end].hex(" ")
    print(f"{span.position:4}  {shown:24} {span.path} = {span.value!r} ({span.type})")
if frame_map.error is not None:
    sys.exit(f"the frame is damaged: {frame_map.error}")
