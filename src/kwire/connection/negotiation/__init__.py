# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Version negotiation: selects the API versions that two sides have in common.

    table = ApiVersionTable.from_response(response)      # versions on one connection
    table.pick(FetchRequest)                             # maximum common version
    ClusterVersions({"B1": table, ...}).ranges()         # versions of all brokers

``policy`` defines the versions that this side may use, and ``constraints`` defines the
versions that a message requires. ``tables`` and ``cluster`` contain the broker
versions. ``handshake`` requests them, and ``answers`` is the server side. There are no
sockets here, because ``kwire.connection`` implements connections.
"""

from .answers import ApiVersionsAnswer as ApiVersionsAnswer
from .answers import answer_api_versions as answer_api_versions
from .cluster import ClusterVersions as ClusterVersions
from .constraints import CLIENT as CLIENT
from .constraints import CONTROLLERS as CONTROLLERS
from .constraints import EPOCH_END as EPOCH_END
from .constraints import FETCH_SESSION as FETCH_SESSION
from .constraints import FETCHED_EPOCH as FETCHED_EPOCH
from .constraints import GROUP_PATTERNS as GROUP_PATTERNS
from .constraints import MAGIC_0 as MAGIC_0
from .constraints import MAGIC_1 as MAGIC_1
from .constraints import MAGIC_2 as MAGIC_2
from .constraints import NO_TOPIC_IDS as NO_TOPIC_IDS
from .constraints import OFFSETS_BY_TIME as OFFSETS_BY_TIME
from .constraints import TOPIC_DEFAULTS as TOPIC_DEFAULTS
from .constraints import TRANSACTION_PROTOCOL_1 as TRANSACTION_PROTOCOL_1
from .constraints import TRANSACTIONS as TRANSACTIONS
from .constraints import ZSTD as ZSTD
from .constraints import Constraint as Constraint
from .facts import name_of as name_of
from .features import FEATURES as FEATURES
from .features import LZ4 as LZ4
from .features import Feature as Feature
from .finalized import FinalizedFeatures as FinalizedFeatures
from .handshake import ApiVersionsHandshake as ApiVersionsHandshake
from .policy import DEFAULT_POLICY as DEFAULT_POLICY
from .policy import VersionPolicy as VersionPolicy
from .release_guess import ReleaseGuess as ReleaseGuess
from .release_guess import guess_release as guess_release
from .tables import ApiVersionTable as ApiVersionTable
from .tables import fallback_table as fallback_table
