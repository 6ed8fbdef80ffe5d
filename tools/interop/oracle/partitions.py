# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare ``kwire.records.partitioners`` with Kafka's ``Utils`` class for many keys.

``PartitionHashes.java`` prints Kafka's results. Java runs it directly from source.
"""

from __future__ import annotations

import base64
import random
import sys

from tools.interop.oracle import oracle

KEYS = 100_000
LONGEST = 100


def main() -> None:
    """Compare kwire's hashes and partitions with Kafka's for random keys.

    Exits with a message at the first difference.
    """
    from kwire.records import partitioners

    dice = random.Random(oracle.SEED)
    keys = [bytes(size) for size in range(20)]
    keys += [dice.randbytes(dice.randrange(LONGEST)) for _ in range(KEYS)]
    lines = [base64.b64encode(key).decode() for key in keys]
    path = ":".join(map(str, oracle.jars(oracle.releases()[0])))
    program = str(oracle.HERE / "PartitionHashes.java")
    text = oracle.run(["java", "-cp", path, program], "\n".join(lines) + "\n")
    theirs = [tuple(map(int, line.split())) for line in text.splitlines()]
    ours = partitioners.murmur2_column(keys).tolist()
    for key, (hashed, positive), column in zip(keys, theirs, ours, strict=True):
        hash_value = partitioners.murmur2(key)
        partition = partitioners.murmur2_random(key, range(1 << 31), ())
        if (hash_value, column, partition) != (hashed, hashed, positive):
            sys.exit(
                f"murmur2 of {key.hex()} is {hashed}, positive {positive}, in Kafka;"
                f" kwire has {hash_value}, {column} in a column, and {partition}"
            )
    print(f"{len(keys)} keys have Kafka's hash")


if __name__ == "__main__":
    main()
