# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One line instead of a UDF: ``python -m examples.drop_in``.

``by_hand`` is a typical Python UDF that parses record batches. The program runs it and
``from_kafka_records`` on the same column, with the type of the UDF as ``schema``. It
first checks that both return the same type and the same records, including timestamps.
Then it compares their duration.
"""
