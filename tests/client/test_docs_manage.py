# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the Python code in docs/operators/manage.md with a broker on loopback.

The blocks run one after another. The expected output is the comment next to ``print``,
or the block below.
"""

import re
from pathlib import Path

from tests.client.log_broker import LogBroker

PAGE = Path(__file__).parents[2] / "docs" / "operators" / "manage.md"
TEXT = PAGE.read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_each_block_prints_what_its_comments_have(capsys):
    names = {}
    with LogBroker({"orders": (35, 20)}) as broker:
        broker.cluster_truth.listed_groups |= {"reports"}
        broker.cluster_truth.add_group("etl", ["orders"])
        for block in BLOCKS:
            if block.startswith(">>>"):
                # ``tests/project/test_docs.py`` runs this block.
                continue
            code = block.replace("broker:9092", broker.address)
            exec(compile(code, str(PAGE), "exec"), names)
            expected = re.findall(r"^ *print\(.*\) *# (.*)$", block, re.MULTILINE)
            printed = capsys.readouterr().out
            if expected or not printed:
                assert printed.splitlines() == expected, block
            else:
                # The next block of the page contains the output.
                assert f"```\n{printed}```" in TEXT
        assert names["kafka"].has_connected is False
    assert len(BLOCKS) > 8


def test_each_operation_is_described():
    from kwire.client.admin import Admin

    public = {name for name in vars(Admin) if not name.startswith("_")}
    assert len(public) > 10
    assert {
        name for name in public if f"{name}(" not in TEXT and f"`{name}`" not in TEXT
    } == set()
