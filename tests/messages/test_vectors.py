# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test all vectors that Kafka's own classes wrote, on both engines.

The promise that kwire's bytes equal Kafka's is based on these tests, because kwire did
not write the bytes. The tests read all vectors without any exceptions.
"""

import re
from collections import Counter

from tests.harness import golden
from tests.harness.message_counts import PAIRS
from tests.harness.values import neutral, pairs

LEAST_PER_PAIR = 3


def test_decodes_and_encodes_to_the_same_bytes(kwire, figure):
    """Decoding and encoding a golden vector returns the bytes that Kafka wrote."""
    same, differing = Counter(), []
    for name, version, data, _ in golden.vectors():
        cls = getattr(kwire.messages, name)
        message = kwire.decode(cls, data, version)
        assert type(message) is cls
        if kwire.encode(message, version) == data:
            same[name, version] += 1
        else:
            differing.append((name, version, data.hex()))
    assert not differing, differing[:5]
    figure("P2", "vectors that differ", len(differing), most=0)
    figure("P2", "pairs of message and version", len(same), least=PAIRS)
    figure("P2", "vectors of each", min(same.values()), least=LEAST_PER_PAIR)
    figure("P2", "vectors of all", same.total(), least=LEAST_PER_PAIR * PAIRS)


def test_twins_decode_equal_values(twins, figure):
    """Both engines decode a golden vector to equal values of the same types."""
    count, differing = 0, []
    for name, version, data, _ in golden.vectors():
        fast, pure = (
            neutral(package.decode(getattr(package.messages, name), data, version))
            for package in twins
        )
        count += 1
        if fast != pure:
            differing.append((name, version, data.hex()))
    assert not differing, differing[:5]
    figure("P3", "vectors that the engines read differently", len(differing), most=0)
    figure("P3", "vectors read by both engines", count, least=LEAST_PER_PAIR * PAIRS)


def test_every_pair_has_vectors(kwire):
    """Every (message, version) pair has at least three golden vectors."""
    counts = {pair: len(vectors) for pair, vectors in golden.by_pair().items()}
    assert sorted(counts) == sorted(pairs(kwire))
    assert len(counts) == PAIRS
    assert min(counts.values()) >= LEAST_PER_PAIR


def test_vectors_differ_from_the_default():
    """Every pair with fields has at least two different golden vectors."""
    alike = {
        pair[0]
        for pair, vectors in golden.by_pair().items()
        if len({vector.data for vector in vectors}) == 1
    }
    # A message without fields and without a tag section is always empty.
    assert alike == {
        name
        for name, version in golden.by_pair()
        if {vector.data for vector in golden.by_pair()[name, version]} == {b""}
    }


def test_unknown_tags_and_nulls_are_among_the_vectors(kwire):
    """The golden vectors contain unknown tags and nulls.

    Without such rare forms, the other tests would prove little.
    """
    tagged = set()
    flexible = set()
    for vector in golden.vectors():
        cls = getattr(kwire.messages, vector.message)
        if vector.version in cls.flexible_versions:
            flexible.add((vector.message, vector.version))
            message = kwire.decode(cls, vector.data, vector.version)
            if message.unknown_tagged_fields:
                tagged.add((vector.message, vector.version))
    assert tagged == flexible


def test_manifest_names_the_origin_of_every_pair():
    """The manifest has the origin of every pair.

    It is a jar with its SHA-256, a class, a seed and a vector count.
    """
    manifest = golden.manifest()
    hashes = manifest["sha256"]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes.values())
    counts = {}
    for pair in manifest["pairs"]:
        assert pair["jar"] in hashes
        class_name = pair["class"].rpartition(".")[2]
        assert class_name in (pair["message"], f"{pair['message']}Data")
        assert isinstance(pair["seed"], int)
        counts[pair["message"], pair["version"]] = pair["count"]
    assert counts == {pair: len(vectors) for pair, vectors in golden.by_pair().items()}
    assert manifest["missing"] == []


def test_manifest_lists_only_used_jars():
    """Every jar in the manifest wrote at least one pair."""
    manifest = golden.manifest()
    assert set(manifest["sha256"]) == {pair["jar"] for pair in manifest["pairs"]}
