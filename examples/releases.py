# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""List the Kafka releases that accept one version of an API (kwire.schema).

python examples/releases.py Fetch 13
"""

import sys

from kwire.schema import releases

api, version = sys.argv[1], int(sys.argv[2])
key = releases.key_of(api)
accepting = [
    release
    for release in releases.NAMES
    if version in releases.ranges(release).get(key, ())
]
if not accepting:
    sys.exit(f"no release accepts {api} {version}")
print(f"{api} {version}: Kafka {accepting[0]} to {accepting[-1]}")
