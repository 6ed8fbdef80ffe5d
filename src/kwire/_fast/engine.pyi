# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# What the compiled engine offers: the same, in the same words, as its twin.

from .._pure.engine import bind_headers as bind_headers
from .._pure.engine import binding_of as binding_of
from .._pure.engine import decode as decode
from .._pure.engine import decode_prefix as decode_prefix
from .._pure.engine import encode as encode
from .._pure.engine import encode_request as encode_request
from .._pure.engine import encode_response as encode_response
from .._pure.engine import make_struct as make_struct
