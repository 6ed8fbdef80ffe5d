# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure how planning and listing scale with segments: ``docs/project/scale.md``.

* ``inputs.py`` creates logs of many terabytes that need hardly any disk space.
* ``store.py`` is an object store that counts requests and delays its responses.
* ``worker.py`` measures one case in a separate process.
* ``executors.py`` reads with several Spark executors.
* ``chapter.py`` writes the page.
"""
