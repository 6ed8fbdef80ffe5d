# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about Kafka: definitions, releases, error codes, batch layouts and plans.

``definitions`` and ``facts`` contain the facts as text, and ``registry`` and
``releases`` read them on first use. ``language`` and ``rules`` read and check Kafka's
own schema files. ``plan`` resolves one version of a message. Code that reads data of
users does not belong here.
May import: ``errors``.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import releases as releases
else:
    # Type checkers know the name above, and report all others.
    def __getattr__(name: str) -> object:
        """Import the public module on first use."""
        if name != "releases":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # Not by importlib, which is slow to import itself.
        return __import__(f"{__name__}.{name}", fromlist=[name])
