# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Functions for messages that each engine provides. Twin: ``fast/engine.py``."""

from __future__ import annotations

from .decoder import decode as decode
from .decoder import decode_prefix as decode_prefix
from .encoder import encode as encode
from .frames import bind_headers as bind_headers
from .frames import decode_response as decode_response
from .frames import encode_request as encode_request
from .frames import encode_response as encode_response
from .structs import bind_pickle as bind_pickle
from .structs import binding_of as binding_of
from .structs import make_struct as make_struct
