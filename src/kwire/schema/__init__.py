# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about Kafka: definitions, releases, error codes, batch layouts and plans.

The directories ``definitions`` and ``facts`` contain the facts as text files, which
``registry`` and ``releases`` read on first use. ``language`` and ``rules`` read and
check Kafka's own schema files. ``plan`` resolves a message for one version. Code that
reads user data does not belong in this package. May import: ``errors``.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import releases as releases
else:
    # Type checkers already know ``releases`` from the import above. Without a
    # ``__getattr__``, they report an error for every unknown attribute.
    def __getattr__(name: str) -> object:
        """Import the public module ``releases`` when it is first accessed."""
        if name != "releases":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # ``__import__`` is used because importing ``importlib`` is slow.
        return __import__(f"{__name__}.{name}", fromlist=[name])
