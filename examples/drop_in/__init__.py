# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One line instead of a UDF: ``python -m examples.drop_in``.

``by_hand`` is an ordinary Python UDF that takes record batches apart. Here it runs
beside ``from_kafka_records`` on the same column, with the type of the UDF as the
``schema``. First both have to return the same type and the same records, with their
timestamps; then their times are compared.
"""
