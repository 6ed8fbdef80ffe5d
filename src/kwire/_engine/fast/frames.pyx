# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes frames, which consist of a size, a header and a body.

The header is a message and has a plan. ``schema/plan.py`` chooses its version.

Twin: ``pure/frames.py``. Differs from its twin in: all three parts are written to one
buffer, and no header object is created. The body program refers to its header program.

Only in Cython: ``find_request_header``, ``find_response_header``.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport uint32_t

from kwire._engine.fast.big_endian cimport store_int32
from kwire._engine.fast.decoder cimport decode_part, is_lenient
from kwire._engine.fast.encoder cimport make_failure, write_slots
from kwire._engine.fast.program cimport Program, find_program
from kwire._engine.fast.python_api cimport (
    load_hint,
    load_pointer,
    publish_pointer,
    store_hint,
)
from kwire._engine.fast.structs cimport slots_of
from kwire._engine.fast.writer cimport Writer, ensure, finish, start

from kwire import errors
from kwire._engine import frame_hints
from kwire._limits import DEFAULT
from kwire.schema.plan import request_header_version, response_header_version

cdef object _request_header = None
cdef object _response_header = None
cdef tuple _no_tags = ()
cdef object _default_limits = DEFAULT


def bind_headers(request_header, response_header):
    """Set the classes of request and response headers.

    The engine cannot import them, because the module of the messages imports the
    engine.
    """
    global _request_header, _response_header
    _request_header = request_header
    _response_header = response_header


def encode_request(request, version, correlation_id=0, client_id=""):
    """Encode a request as a frame.

    Shape: INT32 size (number of bytes that follow), request header, body. In flexible
    versions of the request, the header has version 2, otherwise version 1.
    ControlledShutdown version 0 has header version 0.

    Raises ``EncodeError`` or ``UnsupportedVersion``.
    """
    cdef Program program = find_program(type(request), version)
    cdef PyObject* fields[5]
    cdef Program header = find_request_header(program, version)
    fields[0] = <PyObject*>program.api_key
    fields[1] = <PyObject*>version
    fields[2] = <PyObject*>correlation_id
    fields[3] = <PyObject*>client_id
    fields[4] = <PyObject*>_no_tags
    return frame(program, header, fields, request)


cdef Program find_request_header(Program program, version):
    """Return the program for a request header."""
    cdef PyObject* known = load_pointer(&program.request_header)
    if known != NULL:
        return <Program>known
    message = program.binding.message
    if message.kind != "request":
        raise TypeError(f"a request is required (got {message.name}, a {message.kind})")
    header = find_program(_request_header, request_header_version(message, version))
    publish_pointer(&program.request_header, <PyObject*>header)
    return header


def encode_response(response, version, correlation_id=0):
    """Encode a response as a frame.

    Shape: INT32 size (number of bytes that follow), response header, body. In flexible
    versions of the response, the header has version 1, otherwise version 0. ApiVersions
    always has header version 0.

    Raises ``EncodeError`` or ``UnsupportedVersion``.
    """
    cdef Program program = find_program(type(response), version)
    cdef Program header = find_response_header(program, version)
    cdef PyObject* fields[2]
    fields[0] = <PyObject*>correlation_id
    fields[1] = <PyObject*>_no_tags
    return frame(program, header, fields, response)


def decode_response(
    cls,
    frame,
    version,
    *,
    bint zero_copy=False,
    compat=None,
    limits=_default_limits,
):
    """Decode a response. Returns its correlation id and its body.

    ``frame`` does not contain the size of the frame.

    Shape: response header, body. In flexible versions of the response, the header has
    version 1, otherwise version 0. ApiVersions always has header version 0. Tagged
    fields of the header are read and discarded.

    Raises ``DecodeError`` with the offset in ``frame`` (bytes), or
    ``UnsupportedVersion``.
    """
    cdef Program program = find_program(cls, version)
    cdef Program header = find_response_header(program, version)
    cdef bint lenient = compat is not None and is_lenient(compat)
    cdef Py_ssize_t at = 0
    try:
        head = decode_part(
            _response_header, frame, header.layout.version, &at, False, lenient, limits,
            False,
        )
        body = decode_part(
            cls, frame, version, &at, zero_copy, lenient, limits, not lenient
        )
    except errors.DecodeError as error:
        # If there is no memory for a traceback, Cython assigns a MemoryError to the
        # variable instead.
        if isinstance(error, errors.DecodeError):
            frame_hints.hint_at_size(error, frame)
        raise
    return head.correlation_id, body


cdef Program find_response_header(Program program, version):
    """Return the program for a response header."""
    cdef PyObject* known = load_pointer(&program.response_header)
    if known != NULL:
        return <Program>known
    message = program.binding.message
    if message.kind != "response":
        raise TypeError(
            f"a response is required (got {message.name}, a {message.kind})"
        )
    header = find_program(_response_header, response_header_version(message, version))
    publish_pointer(&program.response_header, <PyObject*>header)
    return header


cdef object frame(Program program, Program header, PyObject** fields, object message):
    """Return a frame with its size, header and body."""
    cdef Writer writer
    cdef PyObject* out
    cdef Py_ssize_t size
    if not start(&writer, load_hint(&program.size_hint) + 64) or not ensure(&writer, 4):
        raise make_failure(&writer, program)
    writer.at += 4
    if not write_slots(&writer, header.table, fields):
        raise make_failure(&writer, header)
    if not write_slots(&writer, program.table, slots_of(<void*>message)):
        raise make_failure(&writer, program)
    size = writer.at - writer.start - 4
    if size > 0x7FFFFFFF:
        Py_XDECREF(writer.out)
        raise errors.encode_failure(errors.TOO_LARGE, "", None, "")
    store_hint(&program.size_hint, size)
    store_int32(writer.start, <uint32_t>size)
    out = finish(&writer)
    if out == NULL:
        raise make_failure(&writer, program)
    result = <bytes>out
    Py_XDECREF(out)
    return result
