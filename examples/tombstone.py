# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Delete a key with a record that has a value, as KIP-87 proposed (kwire.drafts).

    python examples/tombstone.py

Kafka never released this format: brokers and clients reject it.
"""

from kwire.drafts import kip87_tombstone_flag as kip87

TOMBSTONE = 0x10
message = kip87.Message(
    offset=0, timestamp=1000, key=b"k", value=b"alice", magic=2, attributes=TOMBSTONE
)
(decoded,) = kip87.decode(kip87.encode([message]))
print(kip87.is_tombstone(decoded.magic, decoded.attributes, decoded.value))

old, report = kip87.down_convert([decoded])
print(report)
