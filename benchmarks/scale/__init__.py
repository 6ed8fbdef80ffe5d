# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""How planning and listing grow with the number of segments: ``docs/project/scale.md``.

``inputs.py`` makes logs of many terabytes that take hardly any disk, ``store.py`` an
object store that counts requests and answers late, ``worker.py`` measures one case in
a process of its own, ``executors.py`` reads on a Spark of several executors, and
``chapter.py`` writes the page.
"""
