# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# The names at the top of kwire, which the package itself resolves on first use.

from typing import Any, TypeVar

from . import client as client
from . import connection as connection
from . import drafts as drafts
from .schema import error_codes as error_codes
from . import errors as errors
from . import explain as explain
from . import jobs as jobs
from . import log as log
from . import messages as messages
from . import recording as recording
from . import records as records
from . import schema as schema
from . import spark as spark
from . import testing as testing
from .messages.codec import decode as decode
from .messages.codec import encode as encode
from .errors import CorruptBatch as CorruptBatch
from .errors import DecodeError as DecodeError
from .errors import EncodeError as EncodeError
from .errors import InvalidLength as InvalidLength
from .errors import InvalidJson as InvalidJson
from .errors import InvalidValue as InvalidValue
from .errors import InvalidVarint as InvalidVarint
from .errors import KwireError as KwireError
from .errors import LimitExceeded as LimitExceeded
from .errors import LocalProtocolError as LocalProtocolError
from .errors import ProtocolError as ProtocolError
from .errors import RemoteProtocolError as RemoteProtocolError
from .errors import SchemaError as SchemaError
from .errors import TrailingBytes as TrailingBytes
from .errors import Truncated as Truncated
from .errors import UnsupportedVersion as UnsupportedVersion
from ._limits import Limits as Limits
from .messages import Message
from .schema.versions import VersionRange as VersionRange

_M = TypeVar("_M", bound=Message)

__version__: str
backend: str

def to_json(message: Message, version: int) -> dict[str, Any]: ...
def from_json(cls: type[_M], obj: dict[str, Any], version: int) -> _M: ...
