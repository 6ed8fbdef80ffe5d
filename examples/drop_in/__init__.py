# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One line instead of a UDF: ``python -m examples.drop_in``.

``by_hand`` is an ordinary Python UDF that takes record batches apart. Here it runs
beside ``from_kafka_records`` on the same column: first both have to give the same
records, then their times are compared.
"""
