# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClientCredentials``: requests OAUTHBEARER tokens from an OAuth token endpoint.

It implements the grant "client_credentials" of RFC 6749, section 4.4, as specified by
KIP-768. For other grants, users pass their own function to ``OAuthBearer``.

The endpoint is not trusted. The size and duration of its response are limited.
Redirects are rejected, because they would send the client secret to another server.
Errors show only the error codes that RFC 6749 defines.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode, urlsplit

from ..connection.sasl import CredentialsError

if TYPE_CHECKING:
    from http.client import HTTPResponse

_MAX_RESPONSE_BYTES = 1 << 20

_TIMEOUT_S = 8.0
"""Maximum duration in seconds of a request for a token, including all attempts. It is
shorter than the default ``connect_timeout_s`` (10 seconds), so that the endpoint's
error is reported instead of a connection timeout.
"""

_FIRST_PAUSE_S = 0.1
_MAX_PAUSE_S = 2.0

_REFRESH_AT = 0.8
"""Fraction of the lifetime after which a token is replaced, as in Kafka's client."""

_UNKNOWN_LIFETIME_S = 30.0
"""Lifetime of a token in seconds if neither the response nor a JWT specifies it."""

_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")

_ERROR_CODES = (
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
)
"""Error codes of RFC 6749, section 5.2.

Errors do not show any other text that the endpoint sends.
"""

_RETRIED_STATUSES = (408, 425, 429)
"""HTTP client errors that may be temporary. Other 4xx errors are not retried."""


class _EndpointError(Exception):
    """A failed attempt to request a token.

    ``is_final`` is True if another attempt would fail in the same way.
    """

    def __init__(self, problem: str, *, is_final: bool) -> None:
        super().__init__(problem)
        self.is_final = is_final


class ClientCredentials:
    """Token provider for ``OAuthBearer``. It requests tokens and reuses valid ones.

    * ``token_url``: URL of the token endpoint. It must use https, except on loopback.
    * ``client_id``, ``client_secret``: credentials for the token endpoint.
    * ``scope``: the scope to request. By default, the endpoint chooses it.
    * ``url_encode``: encode the client id and the secret as RFC 6749 requires. The
      default is False as in Kafka's client, because many endpoints expect the
      unencoded values.

    A call returns a token or raises ``CredentialsError``. When 80 % of a token's
    lifetime has passed, a call still returns this token, but also requests a new one in
    a background thread. Calls from several threads are safe.

    Raises ``CredentialsError`` if the URL is not secure or the credentials cannot be
    encoded as UTF-8.
    """

    def __init__(
        self,
        token_url: str,
        client_id: str,
        client_secret: str,
        scope: str | None = None,
        *,
        url_encode: bool = False,
    ) -> None:
        _check_url(token_url)
        self._url = token_url
        if url_encode:
            client_id, client_secret = quote_plus(client_id), quote_plus(client_secret)
        try:
            pair = f"{client_id}:{client_secret}".encode()
        except UnicodeEncodeError:
            raise CredentialsError(
                "OAUTHBEARER requires a client id and a secret that UTF-8 can encode"
            ) from None
        self._authorization = f"Basic {base64.b64encode(pair).decode()}"
        form = {"grant_type": "client_credentials"}
        if scope:
            form["scope"] = scope
        self._body = urlencode(form).encode()
        self._lock = threading.Lock()
        self._token = ""
        self._refresh_at = self._expires_at = -math.inf
        self._failure: CredentialsError | None = None
        self._is_refreshing = False

    def __call__(self) -> str:
        """Return a valid token.

        Blocks for up to about 8 seconds if a token must be requested. Raises
        ``CredentialsError`` if the request fails, or if the request of a preceding
        ``prepare`` has failed.
        """
        with self._lock:
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
            now = time.monotonic()
            if now >= self._expires_at:
                self._request_token()
            elif now >= self._refresh_at and not self._is_refreshing:
                self._is_refreshing = True
                threading.Thread(target=self._refresh, daemon=True).start()
            return self._token

    def prepare(self) -> None:
        """Request a token if there is no valid one.

        Call this method in a thread that may block. The next call of the object then
        returns the token, or raises the request's error, without blocking.
        """
        with self._lock:
            self._failure = None
            if time.monotonic() >= self._expires_at:
                try:
                    self._request_token()
                except CredentialsError as error:
                    self._failure = error

    def _refresh(self) -> None:
        """Request the next token, while the current token is still valid.

        If this fails, the current token is kept, and the next call tries again.
        """
        try:
            token, lifetime_s = self._fetch_token()
        except CredentialsError:
            token, lifetime_s = "", 0.0
        with self._lock:
            self._is_refreshing = False
            if token:
                self._store_token(token, lifetime_s)

    def _request_token(self) -> None:
        self._store_token(*self._fetch_token())

    def _store_token(self, token: str, lifetime_s: float) -> None:
        now = time.monotonic()
        self._token = token
        self._refresh_at = now + lifetime_s * _REFRESH_AT
        self._expires_at = now + lifetime_s

    def _fetch_token(self) -> tuple[str, float]:
        """Request a token. Returns the token and its lifetime in seconds.

        Temporary errors are retried with increasing pauses until ``_TIMEOUT_S`` has
        passed. Raises ``CredentialsError`` with the last error.
        """
        deadline = time.monotonic() + _TIMEOUT_S
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return _read_token(self._send_request(deadline))
            except _EndpointError as error:
                if error.is_final or time.monotonic() + pause_s >= deadline:
                    raise CredentialsError(
                        f"OAUTHBEARER: requesting a token: {error}"
                    ) from None
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, _MAX_PAUSE_S)

    def _send_request(self, deadline: float) -> bytes:
        """Send one request, and return the response's body.

        Raises ``_EndpointError`` if the request fails.
        """
        # Import these modules here, because only clients with OAUTHBEARER require them.
        from http.client import HTTPException
        from ssl import SSLError
        from urllib.error import HTTPError
        from urllib.request import (
            HTTPRedirectHandler,
            ProxyHandler,
            Request,
            build_opener,
        )

        class RejectRedirects(HTTPRedirectHandler):
            def redirect_request(self, *_: Any) -> None:
                """Let the opener raise the response as an error."""

        headers = {
            "Authorization": self._authorization,
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        request = Request(self._url, self._body, headers, method="POST")
        timeout_s = max(deadline - time.monotonic(), 0.1)
        # A request with http is not encrypted and is only allowed to loopback, so it
        # must not be sent to a proxy.
        proxies = ProxyHandler({} if self._url[:5].lower() == "http:" else None)
        opener = build_opener(RejectRedirects, proxies)
        try:
            with opener.open(request, timeout=timeout_s) as body:
                return _read_body(body, deadline)
        except HTTPError as error:
            with error:
                raise _describe_status(error, deadline) from None
        except (OSError, HTTPException, ValueError) as error:
            # URLError is a wrapper. Its attribute ``reason`` is the socket error.
            reason = getattr(error, "reason", error)
            if isinstance(reason, SSLError):
                problem = "the TLS handshake with the token endpoint failed"
                if getattr(reason, "verify_message", ""):
                    problem += ": its certificate is not trusted"
                raise _EndpointError(
                    f"{problem}; set SSL_CERT_FILE to the certificate of its authority",
                    is_final=True,
                ) from None
            raise _EndpointError(
                f"the token endpoint cannot be reached ({type(reason).__name__})",
                is_final=False,
            ) from None

    def __repr__(self) -> str:
        return "ClientCredentials(...)"


def _check_url(url: str) -> None:
    """Raise ``CredentialsError`` if a URL is invalid or exposes the client secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if parts.scheme not in ("https", "http") or not host or not url.isascii():
        raise CredentialsError("OAUTHBEARER: the token endpoint must be an https URL")
    if "@" in parts.netloc:
        raise CredentialsError(
            "OAUTHBEARER: the URL of the token endpoint cannot contain a user name or a"
            " password; use the settings of the client id and the client secret"
        )
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(host):
        raise CredentialsError(
            "OAUTHBEARER: the token endpoint must use https, because http would send"
            " the client secret unencrypted"
        )


def _read_body(body: HTTPResponse, deadline: float) -> bytes:
    """Read the complete body of a response.

    Raises ``_EndpointError`` if it is larger than 1 MiB or not complete before
    ``deadline``, a time of ``time.monotonic``.
    """
    data = bytearray()
    while chunk := body.read1(1 << 16):
        data += chunk
        if len(data) > _MAX_RESPONSE_BYTES or time.monotonic() > deadline:
            raise _EndpointError(
                "the token endpoint sends a response that is too long or too slow",
                is_final=True,
            )
    return bytes(data)


def _describe_status(error: Any, deadline: float) -> _EndpointError:
    """Convert an HTTP error to an ``_EndpointError``.

    The text contains the HTTP status, and the error code if RFC 6749 defines it.
    """
    is_final = 300 <= error.code < 500 and error.code not in _RETRIED_STATUSES
    if 300 <= error.code < 400:
        return _EndpointError(
            f"the token endpoint redirects (HTTP {error.code}); set the URL that it"
            " redirects to",
            is_final=True,
        )
    try:
        code = json.loads(_read_body(error, deadline))["error"]
    except Exception:
        # The body is optional and can have any format.
        code = None
    shown_code = f" {code}" if code in _ERROR_CODES else ""
    advice = "; check the client id, the secret and the scope" if is_final else ""
    return _EndpointError(
        f"the token endpoint answered HTTP {error.code}{shown_code}{advice}",
        is_final=is_final,
    )


def _read_token(body: bytes) -> tuple[str, float]:
    """Parse a response. Returns the token and its lifetime in seconds.

    If the response does not specify the lifetime, it is read from the token, which may
    be a JWT. Raises ``_EndpointError`` if there is no token.
    """
    try:
        answer = json.loads(body)
        token = answer["access_token"]
        lifetime_s = answer.get("expires_in")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        token = lifetime_s = None
    if not isinstance(token, str) or not token:
        raise _EndpointError(
            "the response of the token endpoint has no access_token", is_final=True
        )
    if isinstance(lifetime_s, str) and lifetime_s.isdecimal() and len(lifetime_s) < 10:
        # Some endpoints send the lifetime as a string.
        lifetime_s = int(lifetime_s)
    is_number = isinstance(lifetime_s, (int, float)) and not isinstance(
        lifetime_s, bool
    )
    if not is_number or not 0 < lifetime_s < 1 << 40:
        lifetime_s = _read_jwt_lifetime(token)
    return token, float(lifetime_s)


def _read_jwt_lifetime(token: str) -> float:
    """Return the remaining lifetime of a JWT in seconds.

    Returns ``_UNKNOWN_LIFETIME_S`` if the token is not a JWT, has no valid expiration
    time, or has expired.
    """
    parts = token.split(".")
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "===")
        expires_at = float(json.loads(payload)["exp"])
        lifetime_s = expires_at - time.time()
        return lifetime_s if 0 < lifetime_s < 1 << 40 else _UNKNOWN_LIFETIME_S
    except (
        LookupError,
        ValueError,
        TypeError,
        OverflowError,
        RecursionError,
        binascii.Error,
    ):
        return _UNKNOWN_LIFETIME_S
