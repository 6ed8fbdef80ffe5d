# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Object store on the loopback interface with the read operations of S3.

It lists objects in pages, returns sizes and ranges, and ignores signatures. Tests add
and remove objects in ``objects``, and inspect the requests in ``asked``.
"""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 1000
WHEN = "2026-01-02T03:04:05.000Z"
HTTP_WHEN = "Fri, 02 Jan 2026 03:04:05 GMT"


class S3Server:
    """S3-compatible server on the loopback interface.

    * ``objects``: content by (bucket, key).
    * ``asked``: requests that the server has received.
    * ``uri``: method that returns the URI of a key in a bucket.
    """

    def __init__(self):
        self.objects = {}
        self.asked = []
        self.refuse = None
        store = self

        class Handler(_Handler):
            server_store = store

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def uri(self, key):
        address = f"127.0.0.1:{self._server.server_port}"
        return f"s3://{key}?endpoint_override={address}&scheme=http&region=us-east-1"

    def count(self, method):
        return sum(1 for request in self.asked if request[0] == method)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Send headers and body in one packet without delay.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    server_store = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._answer()

    def do_GET(self):
        self._answer()

    def _answer(self):
        store, url = self.server_store, urlsplit(self.path)
        key = unquote(url.path).lstrip("/")
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        span = self.headers.get("Range", "")
        operation = "LIST" if "list-type" in query else self.command
        store.asked.append((operation, key, span))
        if store.refuse is not None and (status := store.refuse(operation, key, span)):
            self._send(status, _error("AccessDenied", "not for you"))
        elif operation == "LIST":
            self._list(key.rstrip("/"), query)
        elif "/" not in key.rstrip("/"):
            self._send(200)
        elif key not in store.objects:
            self._send(404, _error("NoSuchKey", "there is none"))
        else:
            self._give(store.objects[key], span)

    def _give(self, data, span):
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", span)
        if match is None:
            self._send(200, data, {"Last-Modified": HTTP_WHEN, "ETag": '"e"'})
            return
        start, end = int(match[1]), min(int(match[2]) + 1, len(data))
        if start >= len(data):
            self._send(416, _error("InvalidRange", "not satisfiable"))
            return
        range_header = {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}
        self._send(206, data[start:end], range_header | {"Last-Modified": HTTP_WHEN})

    def _list(self, bucket, query):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        begin = f"{bucket}/{prefix}"
        keys = [key for key in sorted(self.server_store.objects) if key > begin]
        keys = [key[len(bucket) + 1 :] for key in keys if key.startswith(begin)]
        after = query.get("continuation-token") or query.get("start-after", "")
        keys = [key for key in keys if key > after]
        size = min(PAGE, int(query.get("max-keys", PAGE)))
        page, is_truncated = keys[:size], len(keys) > size
        folders, rows = set(), []
        for key in page:
            name = key[len(prefix) :]
            if delimiter and delimiter in name:
                folders.add(prefix + name.partition(delimiter)[0] + delimiter)
                continue
            length = len(self.server_store.objects[f"{bucket}/{key}"])
            rows.append(
                f"<Contents><Key>{escape(quote(key))}</Key><Size>{length}</Size>"
                f"<LastModified>{WHEN}</LastModified></Contents>"
            )
        rows += [
            f"<CommonPrefixes><Prefix>{escape(quote(folder))}</Prefix></CommonPrefixes>"
            for folder in sorted(folders)
        ]
        token = escape(page[-1]) if is_truncated else ""
        self._send(
            200,
            f"<ListBucketResult><Name>{bucket}</Name><KeyCount>{len(page)}</KeyCount>"
            f"<EncodingType>url</EncodingType>"
            f"<IsTruncated>{str(is_truncated).lower()}</IsTruncated>"
            f"<NextContinuationToken>{token}</NextContinuationToken>"
            f"{''.join(rows)}</ListBucketResult>",
        )

    def _send(self, status, body=b"", headers=None):
        data = body.encode() if isinstance(body, str) else bytes(body)
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _error(code, message):
    return f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
