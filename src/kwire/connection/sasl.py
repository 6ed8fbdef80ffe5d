# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Client SASL mechanisms: PLAIN, SCRAM, OAUTHBEARER, GSSAPI and AWS_MSK_IAM.

Sources: RFC 4616; RFC 5802 and RFC 7677; RFC 7628; RFC 4752; aws-msk-iam-auth.

This module has no sockets. ``first`` returns the first token of an exchange, and
``challenge`` accepts a token from the server and returns the response, or None at the
end. ``connection`` transfers the tokens. Any object with these methods and the
attribute ``mechanism`` can replace these classes.

The methods of ``Scram`` import cryptographic modules when they are called, because
commands import this module for its names, but few connections use SCRAM.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import json
import re
from contextlib import suppress

from .._text import quote_text
from ..errors import KwireError, LocalProtocolError, RemoteProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}

MIN_ITERATIONS = 4096
"""Minimum iteration count in RFC 7677 and in Kafka.

If a server requested fewer iterations, an attacker could guess passwords faster.
"""

MAX_ITERATIONS = 1 << 17
"""Default maximum iteration count. A limit is required, because the server chooses the
count and the client does the work.

Kafka's own limit is 16384.
"""

_NO_CHANNEL_BINDING = "n,,"


class SaslError(RemoteProtocolError):
    """The server rejected the client, violated a rule, or cannot prove its identity."""


class CredentialsError(KwireError, ValueError):
    """The local credentials are not usable. The message never contains their values."""


class Plain:
    """PLAIN: sends the unencrypted password, so it requires TLS for confidentiality.

    Format: NUL, user name, NUL, password, all in UTF-8. The server's response is empty.
    Raises ``CredentialsError`` if the user name or the password is empty, contains NUL,
    or cannot be encoded as UTF-8.
    """

    mechanism = "PLAIN"

    def __init__(self, username: str, password: str) -> None:
        for credential, text in (("user name", username), ("password", password)):
            if not text or "\0" in text:
                raise CredentialsError(
                    f"PLAIN requires a {credential} without NUL characters"
                )
        self._token = _encode_utf8(f"\0{username}\0{password}", "PLAIN")
        self.is_done = False

    def first(self) -> bytes:
        """Return the first token, which is also the last one."""
        return self._token

    def challenge(self, data: bytes) -> None:
        """Process the server's response, which is empty if it accepts the credentials.

        Raises ``SaslError`` if the response is not empty.
        """
        if data:
            raise SaslError(
                f"the server must answer PLAIN with no bytes (got {len(data)})"
            )
        self.is_done = True

    def __repr__(self) -> str:
        return "Plain(...)"


class Scram:
    """SCRAM: both sides prove that they know the password without sending it.

    * ``mechanism``: "SCRAM-SHA-256" or "SCRAM-SHA-512".
    * ``max_iterations``: maximum iteration count that the server may request. The
      minimum is 4096. The exchange computes one HMAC per iteration.

    User name and password are encoded as UTF-8 without SASLprep, as in Kafka. An
    instance supports one exchange at a time, and ``first`` starts a new exchange.
    Raises ``CredentialsError`` if ``mechanism`` is unknown, or if the user name or the
    password is empty or cannot be encoded as UTF-8.
    """

    def __init__(
        self,
        username: str,
        password: str,
        mechanism: str = "SCRAM-SHA-256",
        *,
        max_iterations: int = MAX_ITERATIONS,
    ) -> None:
        if mechanism not in _DIGESTS:
            # Do not include the value, because it can be a password that was passed as
            # the wrong argument.
            raise CredentialsError(f"mechanism must be one of {', '.join(_DIGESTS)}")
        if not username or not password:
            raise CredentialsError(f"{mechanism} requires a user name and a password")
        self.mechanism = mechanism
        self.is_done = False
        self._digest = _DIGESTS[mechanism]
        self._password = _encode_utf8(password, mechanism)
        self._max_iterations = max_iterations
        self._name = username.replace("=", "=3D").replace(",", "=2C")
        _encode_utf8(self._name, mechanism)
        self._nonce = ""
        self._bare = b""
        self._server_signature = b""

    def first(self) -> bytes:
        """Start an exchange. Return the first token: the user name and a new nonce."""
        self.is_done = False
        self._nonce = _new_nonce()
        self._bare = _encode_utf8(f"n={self._name},r={self._nonce}", self.mechanism)
        self._server_signature = b""
        return _NO_CHANNEL_BINDING.encode() + self._bare

    def challenge(self, data: bytes) -> bytes | None:
        """Respond to the server's first message, or verify its last message.

        Returns None after the last message, which completes the exchange.
        Raises ``SaslError`` if the server rejects the client, violates the rules, or
        does not know the password. Raises ``LocalProtocolError`` if the exchange is
        already complete.
        """
        if self.is_done:
            raise LocalProtocolError(
                f"this {self.mechanism} exchange has ended; make a new object for the"
                " next one"
            )
        attributes = _parse_attributes(data)
        if "e" in attributes:
            raise SaslError(
                f"the server rejects the authentication: {quote_text(attributes['e'])}"
            )
        if not self._server_signature:
            return self._prove(data, attributes)
        import hmac

        if not hmac.compare_digest(
            _decode_attribute(attributes, "v"), self._server_signature
        ):
            raise SaslError(
                "the server's signature is wrong: it does not know the password, and"
                " may not be the server that it claims to be"
            )
        self.is_done = True
        return None

    def _prove(self, server_first: bytes, attributes: dict[str, str]) -> bytes:
        """Return the password proof for the server's nonce, salt and iterations."""
        import hashlib

        if "m" in attributes:
            raise SaslError(
                "the server requires a SCRAM extension, and kwire supports none"
            )
        nonce = attributes.get("r", "")
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise SaslError("the server's nonce does not continue the client's")
        salt = _decode_attribute(attributes, "s")
        iterations = self._parse_iterations(attributes.get("i", ""))
        salted = hashlib.pbkdf2_hmac(self._digest, self._password, salt, iterations)
        channel_binding = base64.b64encode(_NO_CHANNEL_BINDING.encode()).decode()
        final_message = f"c={channel_binding},r={nonce}"
        # Both sides sign all previous messages, including the peer's messages.
        auth_message = b",".join((self._bare, server_first, final_message.encode()))
        client_key = self._hmac(salted, b"Client Key")
        stored_key = hashlib.new(self._digest, client_key).digest()
        signature = self._hmac(stored_key, auth_message)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        self._server_signature = self._hmac(
            self._hmac(salted, b"Server Key"), auth_message
        )
        return f"{final_message},p={base64.b64encode(proof).decode()}".encode()

    def _parse_iterations(self, text: str) -> int:
        # Check the length first, because converting thousands of digits would be slow.
        is_number = text.isascii() and text.isdigit() and len(text) <= 10
        iterations = int(text) if is_number else 0
        if not MIN_ITERATIONS <= iterations <= self._max_iterations:
            received_text = quote_text(text[:20]) or "no"
            raise SaslError(
                f"the number of SCRAM iterations must be {MIN_ITERATIONS} to"
                f" {self._max_iterations} (got {received_text})"
            )
        return iterations

    def _hmac(self, key: bytes, data: bytes) -> bytes:
        import hmac

        return hmac.digest(key, data, self._digest)

    def __repr__(self) -> str:
        return f"Scram(..., {self.mechanism!r})"


class OAuthBearer:
    """OAUTHBEARER: authenticates with an access token instead of a password (RFC 7628).

    * ``new_token``: function that returns a token. It is called in every exchange,
      including reauthentication when the session expires (KIP-368).
    * ``extensions``: SASL extensions that are sent with the token (KIP-342).

    The token is sent unencrypted, so this mechanism requires TLS for confidentiality.
    Raises ``TypeError`` if ``new_token`` cannot be called, and ``CredentialsError`` if
    the name of an extension is "auth" or contains other characters than letters, or if
    its value contains the separator U+0001.
    """

    mechanism = "OAUTHBEARER"

    def __init__(
        self,
        new_token: Callable[[], str],
        extensions: Mapping[str, str] | None = None,
    ) -> None:
        if not callable(new_token):
            # Do not include the value, because it can be the token itself.
            raise TypeError("OAUTHBEARER requires a function that returns a token")
        self._new_token = new_token
        self._extensions = "".join(
            f"\x01{name}={value}" for name, value in (extensions or {}).items()
        )
        if any(
            name == "auth"
            or not _EXTENSION_NAME.fullmatch(name)
            or not _EXTENSION_VALUE.fullmatch(str(value))
            for name, value in (extensions or {}).items()
        ):
            raise CredentialsError(
                "OAUTHBEARER extensions must have names of ASCII letters, other than"
                " auth, and values of printable ASCII characters"
            )
        self._is_refused = False
        self.is_done = False

    def prepare(self) -> None:
        """Let the function prepare a token in a thread that may block.

        The asyncio client calls this method before every connection. It has no effect
        unless the function has a method ``prepare``.
        """
        prepare = getattr(self._new_token, "prepare", None)
        if prepare is not None:
            prepare()

    def first(self) -> bytes:
        """Start an exchange. Request a token and return the first message.

        Raises ``CredentialsError`` if the function raises an exception or returns
        something other than a token.
        """
        self._is_refused = self.is_done = False
        try:
            token = self._new_token()
        except CredentialsError:
            # The messages of CredentialsError never contain secrets.
            raise
        except Exception as error:
            # Other messages may contain the secret that was used to request the token.
            raise CredentialsError(
                f"the function for OAUTHBEARER raised {type(error).__name__};"
                " its message is not shown, because it may contain a secret"
            ) from None
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise CredentialsError(
                "the function for OAUTHBEARER must return a token: a str of letters,"
                " digits and -._~+/="
            )
        return _encode_utf8(
            f"n,,\x01auth=Bearer {token}{self._extensions}\x01\x01", self.mechanism
        )

    def challenge(self, data: bytes) -> bytes | None:
        """Process the server's response, which is empty if it accepts the token.

        Otherwise, the response is a JSON error description. The mechanism then sends
        one byte, and the server must end the exchange.
        Raises ``SaslError`` if the server continues instead.
        """
        if self._is_refused:
            raise SaslError(
                "the server rejected the token, and did not end the exchange"
            )
        if data:
            self._is_refused = True
            return b"\x01"
        self.is_done = True
        return None

    def __repr__(self) -> str:
        return "OAuthBearer(...)"


_EXTENSION_NAME = re.compile(r"[A-Za-z]+")
"""Pattern for the name of an extension (RFC 7628, section 3.1)."""
_EXTENSION_VALUE = re.compile(r"[\x21-\x7e \t\r\n]*")
"""Pattern for the value of an extension (RFC 7628, section 3.1)."""

_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")


class Gssapi:
    """GSSAPI: Kerberos tickets, using the package ``gssapi`` (RFC 4752).

    * ``service``: first component of the broker's principal, by default "kafka". The
      second component is the broker's host name.
    * ``principal``: user principal. Default: the principal of the ticket cache.
    * ``keytab``: path of a file that contains the keys of ``principal``. Default: use
      the tickets that ``kinit`` has written to the cache.

    The mechanism only negotiates authentication. As in Kafka, a connection is only
    encrypted if it uses TLS. Raises ``CredentialsError`` if the package is not
    installed, or if a keytab but no principal is specified. ``set_host`` must be called
    before ``first``. The clients call it automatically.
    """

    mechanism = "GSSAPI"

    def __init__(
        self,
        service: str = "kafka",
        principal: str | None = None,
        keytab: str | None = None,
    ) -> None:
        self._gssapi = _import_optional("gssapi", self.mechanism)
        if keytab and not principal:
            raise CredentialsError("GSSAPI requires a principal if a keytab is set")
        self._service = service
        self._principal = principal
        self._keytab = keytab
        self._host = ""
        self._context: Any = None
        self._has_chosen_layer = False
        self.is_done = False

    def set_host(self, host: str) -> None:
        """Set the broker's host name, which is part of its principal."""
        self._host = host

    def first(self) -> bytes:
        """Start an exchange. Request a ticket for the broker and return it.

        Raises ``CredentialsError`` if there is no ticket and none can be requested.
        """
        self._has_chosen_layer = self.is_done = False
        gssapi = self._gssapi
        try:
            server = gssapi.Name(
                f"{self._service}@{self._host}", gssapi.NameType.hostbased_service
            )
            self._context = gssapi.SecurityContext(
                name=server,
                creds=self._load_credentials(),
                mech=gssapi.MechType.kerberos,
                usage="initiate",
                flags=[
                    gssapi.RequirementFlag.mutual_authentication,
                    gssapi.RequirementFlag.integrity,
                ],
            )
            return self._context.step() or b""
        except gssapi.exceptions.GSSError as error:
            raise CredentialsError(_describe_kerberos_error(error)) from None

    def challenge(self, data: bytes) -> bytes | None:
        """Continue the exchange. At its end, select no security layer.

        Raises ``SaslError`` if the server violates the rules or cannot prove its
        identity.
        """
        if self._has_chosen_layer:
            if data:
                raise SaslError("the server must end GSSAPI with no bytes")
            self.is_done = True
            return None
        try:
            if not self._context.complete:
                return self._context.step(data) or b""
            offer = self._context.unwrap(data).message
            if len(offer) != 4 or not offer[0] & _NO_LAYER:
                raise SaslError(
                    "the server requires a GSSAPI security layer, and Kafka has none"
                )
            self._has_chosen_layer = True
            # Without a security layer, the maximum message size must be 0.
            return bytes(self._context.wrap(bytes([_NO_LAYER, 0, 0, 0]), False).message)
        except self._gssapi.exceptions.GSSError as error:
            raise SaslError(_describe_kerberos_error(error)) from None

    def _load_credentials(self) -> Any:
        """Return the user's credentials, or None to use the ticket cache."""
        gssapi = self._gssapi
        if self._principal is None:
            return None
        name = gssapi.Name(self._principal, gssapi.NameType.kerberos_principal)
        if self._keytab is None:
            return gssapi.Credentials(name=name, usage="initiate")
        # Store tickets from a keytab in memory, so that the user's ticket cache is not
        # modified.
        store = {"client_keytab": self._keytab, "ccache": f"MEMORY:kwire-{id(self)}"}
        return gssapi.Credentials(name=name, usage="initiate", store=store)

    def __repr__(self) -> str:
        return "Gssapi(...)"


_NO_LAYER = 1
"""Bit for "no security layer" in RFC 4752, section 3.1."""


class AwsMskIam:
    """AWS_MSK_IAM: a signed AWS IAM request, using the package ``botocore``.

    * ``region``: AWS region. Default: the region in the broker's host name, otherwise
      the region in the AWS configuration (``AWS_REGION``, profile).
    * ``profile``: profile in the AWS configuration. Default: ``AWS_PROFILE``.

    botocore searches for credentials in the environment, profiles, web identities,
    containers and instances. Every exchange signs a new request, which is valid for 15
    minutes. Raises ``CredentialsError`` if the package is not installed. ``set_host``
    must be called before ``first``. The clients call it automatically.

    Format: a JSON object with the signature parameters. The server responds with a JSON
    object. Source: ``AWS4SignedPayloadGenerator`` of aws-msk-iam-auth.
    """

    mechanism = "AWS_MSK_IAM"

    def __init__(self, region: str | None = None, profile: str | None = None) -> None:
        botocore = _import_optional("botocore.session", self.mechanism)
        self._session = botocore.Session(profile=profile)
        self._region = region
        self._host = ""
        self.is_done = False

    def set_host(self, host: str) -> None:
        """Set the broker's host name, which is part of the signed request."""
        self._host = host

    def prepare(self) -> None:
        """Load the credentials in a thread that may block.

        Errors are raised by ``first``.

        The asyncio client calls this method before every connection.
        """
        with suppress(Exception):
            self._session.get_credentials().get_frozen_credentials()

    def first(self) -> bytes:
        """Start an exchange. Sign a request and return it as JSON.

        Raises ``CredentialsError`` if there are no credentials or no region, if
        botocore raises an exception, or if the host name is not set or invalid.
        """
        self.is_done = False
        if not _HOST_NAME.fullmatch(self._host):
            raise CredentialsError(
                "AWS_MSK_IAM requires the host name of the broker: letters, digits, -"
                " and ."
            )
        try:
            fields = self._sign()
        except CredentialsError:
            raise
        except Exception as error:
            # Messages from botocore may contain profile contents.
            raise CredentialsError(
                f"AWS_MSK_IAM: botocore raised {type(error).__name__} for the AWS"
                " credentials; check the profile and the environment"
            ) from None
        return json.dumps(fields, separators=(",", ":")).encode()

    def challenge(self, data: bytes) -> None:
        """Validate the server's JSON response, which completes the exchange.

        Raises ``SaslError`` if the response is not JSON or has a different version.
        """
        try:
            version = json.loads(data)["version"]
        except (ValueError, TypeError, LookupError, RecursionError):
            version = None
        if version != _AWS_VERSION:
            raise SaslError(
                f"the server must answer AWS_MSK_IAM with version {_AWS_VERSION}"
            )
        self.is_done = True

    def _sign(self) -> dict[str, str]:
        """Return the signed request's parameters in the format that brokers expect."""
        from urllib.parse import parse_qsl, urlsplit

        auth = importlib.import_module("botocore.auth")
        awsrequest = importlib.import_module("botocore.awsrequest")
        credentials = self._session.get_credentials()
        if credentials is None:
            raise CredentialsError(
                "AWS_MSK_IAM: there are no AWS credentials; set AWS_PROFILE, or"
                " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        host_match = _AWS_HOST.search(self._host)
        region = (
            self._region
            or (host_match and host_match[1])
            or self._session.get_config_variable("region")
        )
        if not region:
            raise CredentialsError("AWS_MSK_IAM requires a region; set AWS_REGION")
        request = awsrequest.AWSRequest(
            "GET", f"https://{self._host}/?Action=kafka-cluster%3AConnect"
        )
        frozen_credentials = credentials.get_frozen_credentials()
        signer = auth.SigV4QueryAuth(
            frozen_credentials, "kafka-cluster", region, expires=900
        )
        signer.add_auth(request)
        query = parse_qsl(urlsplit(request.url).query)
        fixed_parameters = {
            "version": _AWS_VERSION,
            "host": self._host,
            "user-agent": "kwire",
        }
        return fixed_parameters | {name.lower(): value for name, value in query}

    def __repr__(self) -> str:
        return "AwsMskIam(...)"


_AWS_VERSION = "2020_10_22"
_HOST_NAME = re.compile(r"[A-Za-z0-9.-]{1,255}")
_AWS_HOST = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.")


def _import_optional(name: str, mechanism: str) -> Any:
    """Import and return a package that only one mechanism requires.

    Raises ``CredentialsError`` with the installation command if the package is not
    installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise CredentialsError(
            f"{mechanism} requires the package {package}; install it with: pip install"
            f" {package}"
        ) from None


def _describe_kerberos_error(error: Exception) -> str:
    """Describe an error from the Kerberos library.

    Quote it, because it may contain server data.
    """
    return f"Kerberos: {quote_text(str(error)[:300])}"


def _new_nonce() -> str:
    import secrets

    return secrets.token_urlsafe(24)


def _encode_utf8(text: str, mechanism: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise CredentialsError(
            f"{mechanism} requires a user name and a password that UTF-8 can encode"
        ) from None


def _parse_attributes(data: bytes) -> dict[str, str]:
    """Parse ``a=text,b=text``, and return {attribute: text}.

    Raises ``SaslError`` if an attribute is repeated or has another form.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise SaslError("the server's SCRAM message is not UTF-8") from None
    attributes: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if len(name) != 1 or not equals or name in attributes:
            raise SaslError(
                "the server's SCRAM message is not a list of name=value, or has a name"
                " twice"
            )
        attributes[name] = value
    return attributes


def _decode_attribute(attributes: dict[str, str], name: str) -> bytes:
    try:
        data = base64.b64decode(attributes.get(name, ""), validate=True)
    except (ValueError, binascii.Error):
        data = b""
    if not data:
        raise SaslError(f"the server's SCRAM message lacks {name}= in base64")
    return data
