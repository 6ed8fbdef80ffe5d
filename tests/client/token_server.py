# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""OAuth token endpoint on the loopback interface."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


@contextmanager
def serve_tokens(answers, context=None):
    """Serve a token endpoint.

    Responses are (status, body), and the last response is repeated. A body is bytes, an
    object that is encoded as JSON, or a function with the handler as its parameter. The
    returned object has the ``url`` and the ``requests``, which are (headers, body)
    pairs.
    """
    remaining = list(answers)
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((dict(self.headers), body.decode()))
            status, answer = remaining[0] if len(remaining) == 1 else remaining.pop(0)
            if callable(answer):
                answer(self)
                return
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            """Suppress the log output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        scheme = "http"
        if context is not None:
            scheme = "https"
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"{scheme}://127.0.0.1:{server.server_port}/token"
        try:
            yield SimpleNamespace(url=url, requests=requests)
        finally:
            server.shutdown()
            thread.join()
