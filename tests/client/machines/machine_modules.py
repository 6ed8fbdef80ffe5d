# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Import all state machine modules, so that planted bugs can be patched in."""

import importlib
import pkgutil


def import_machines(package):
    """Import all submodules of a package's ``client.machines``. Return this module."""
    machines = importlib.import_module(f"{package.__name__}.client.machines")
    for module in pkgutil.walk_packages(machines.__path__, f"{machines.__name__}."):
        importlib.import_module(module.name)
    return machines
