# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test a link with simulated time: sessions, throttling, late responses."""

import importlib

import pytest

LIFETIME_MS = 10_000


class Broker:
    """Broker at a link's other end. Responds to SASL and Metadata requests."""

    def __init__(self, kwire, lifetime_ms=0, throttle_ms=0):
        self.messages = kwire.messages
        negotiation = importlib.import_module(
            f"{kwire.__name__}.connection.negotiation"
        )
        connection = importlib.import_module(f"{kwire.__name__}.connection")
        table = negotiation.ApiVersionTable.of_release("4.1")
        self.server = connection.ServerConnection(table)
        self.lifetime_ms = lifetime_ms
        self.throttle_ms = throttle_ms
        self.answers = True
        self.signed_in = 0
        self.answer_of = {}
        self._owed = []

    def exchange(self, link, now):
        """Transfer bytes in both directions until no bytes are pending."""
        while data := link.data_to_send():
            for event in self.server.receive_data(data):
                if type(event).__name__ == "RequestReceived":
                    self._owed.append(event)
            if self.answers:
                self.answer(link, now)

    def answer(self, link, now):
        """Respond to all requests that were received and have no response yet."""
        for event in self._owed:
            self.server.send(event, self._answer(event.request))
        self._owed.clear()
        if data := self.server.data_to_send():
            link.receive_data(data, now)

    def _answer(self, request):
        messages = self.messages
        name = type(request).__name__
        if name in self.answer_of:
            return self.answer_of[name]
        if name == "SaslHandshakeRequest":
            return messages.SaslHandshakeResponse(mechanisms=["PLAIN"])
        if name == "SaslAuthenticateRequest":
            self.signed_in += 1
            return messages.SaslAuthenticateResponse(
                error_message=None, session_lifetime_ms=self.lifetime_ms
            )
        return messages.MetadataResponse(throttle_time_ms=self.throttle_ms)


@pytest.fixture
def new_link(kwire):
    """Return a function that creates links, optionally with PLAIN authentication."""
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")
    sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")

    def make(authenticate=False):
        settings = cluster.ClusterSettings(
            new_mechanism=(lambda: sasl.Plain("ann", "secret"))
            if authenticate
            else None,
            request_timeout_s=5.0,
        )
        budget = cluster.FrameBudget(1 << 20)
        metrics = settings.metrics.open()
        return cluster.Link("sim", 9092, None, settings, 0.0, budget, metrics)

    return make


def test_a_session_is_renewed_before_it_ends(kwire, new_link):
    """The session is renewed on the same connection (KIP-368).

    This happens when 85 % of its lifetime have passed.
    """
    link, broker = new_link(authenticate=True), Broker(kwire, LIFETIME_MS)
    link.note_open(0.0)
    broker.exchange(link, 0.0)
    assert (link.state.name, broker.signed_in) == ("READY", 1)
    assert link.wake_at() == pytest.approx(8.5)
    assert link.is_free(8.4)
    assert not link.is_free(8.6)
    link.check(8.6)
    assert link.state.name == "AUTHENTICATING"
    broker.exchange(link, 8.6)
    assert (link.state.name, broker.signed_in) == ("READY", 2)
    assert link.is_free(9.0)
    assert link.wake_at() == pytest.approx(8.6 + 8.5)


@pytest.mark.parametrize("lifetime_ms", [1, (1 << 63) - 1])
def test_a_session_of_no_time_or_of_all_time_leaves_time_for_requests(
    kwire, new_link, lifetime_ms
):
    """A session of 1 ms is not renewed constantly, which would block other requests."""
    link, broker = new_link(authenticate=True), Broker(kwire, lifetime_ms)
    link.note_open(0.0)
    free = 0
    for step in range(50):
        link.check(step / 10)
        broker.exchange(link, step / 10)
        free += link.is_free(step / 10)
    assert broker.signed_in <= 6
    assert free > 40


@pytest.mark.parametrize("is_list", [False, True])
def test_rejection_message_of_a_broker_is_one_short_line(kwire, new_link, is_list):
    """The message is shortened and contains no terminal control characters."""
    words = "\x1b[2J no\n" * 100_000
    link, broker = new_link(authenticate=True), Broker(kwire)
    make, codes = kwire.messages, kwire.error_codes
    broker.answer_of["SaslHandshakeRequest"] = make.SaslHandshakeResponse(
        error_code=codes.UNSUPPORTED_SASL_MECHANISM if is_list else 0,
        mechanisms=[words[:9000]] * 100 if is_list else ["PLAIN"],
    )
    broker.answer_of["SaslAuthenticateRequest"] = make.SaslAuthenticateResponse(
        error_code=codes.SASL_AUTHENTICATION_FAILED, error_message=words[:30_000]
    )
    link.note_open(0.0)
    broker.exchange(link, 0.0)
    assert link.is_refused
    assert len(link.reason) < 1000 and link.reason.isprintable()


def test_a_session_is_not_renewed_while_a_response_is_awaited(kwire, new_link):
    """SASL uses the connection exclusively, so pending responses come first."""
    link, broker = new_link(authenticate=True), Broker(kwire, LIFETIME_MS)
    link.note_open(0.0)
    broker.exchange(link, 0.0)
    responses = []
    broker.answers = False
    request = kwire.messages.MetadataRequest(topics=None)
    link.send(request, lambda response, now: responses.append(response), 8.0)
    broker.exchange(link, 8.0)
    link.check(8.6)
    assert link.state.name == "READY"
    broker.answers = True
    broker.answer(link, 8.7)
    assert len(responses) == 1
    link.check(8.7)
    assert link.state.name == "AUTHENTICATING"


def test_a_throttled_link_is_left_alone(kwire, new_link):
    """KIP-219: the client sends no request until the throttle time is over."""
    link, broker = new_link(), Broker(kwire, throttle_ms=2000)
    link.note_open(0.0)
    broker.exchange(link, 0.0)
    link.send(kwire.messages.MetadataRequest(topics=None), lambda *_: None, 1.0)
    broker.exchange(link, 1.0)
    assert not link.is_free(2.9)
    assert link.is_free(3.0)


def test_a_response_that_does_not_come_ends_the_link(kwire, new_link):
    """Each request in flight gets None as its response. The link stores the reason."""
    link, broker = new_link(), Broker(kwire)
    link.note_open(0.0)
    broker.exchange(link, 0.0)
    broker.answers = False
    responses = []
    for _ in range(3):
        request = kwire.messages.MetadataRequest(topics=None)
        link.send(request, lambda response, now: responses.append(response), 1.0)
    broker.exchange(link, 1.0)
    link.check(5.9)
    assert responses == []
    link.check(6.0)
    assert link.wake_at() == pytest.approx(6.05)
    link.check(6.05)
    assert link.is_over
    assert responses == [None, None, None]
    assert "no response within 5 s" in link.reason
    assert link.data_to_send() == b""


def test_a_response_that_came_while_the_runner_was_held_up_is_taken(kwire, new_link):
    """The response arrived in time, but the runner was blocked for a minute."""
    link, broker = new_link(), Broker(kwire)
    link.note_open(0.0)
    broker.exchange(link, 0.0)
    responses = []
    for now in (1.0, 70.0):
        request = kwire.messages.MetadataRequest(topics=None)
        link.send(request, lambda response, now: responses.append(response), now)
        link.check(now + 60)
        broker.exchange(link, now + 60)
    assert None not in responses
    assert len(responses) == 2
    assert not link.is_over


def test_link_to_an_unreachable_broker_is_closed_after_a_timeout(new_link):
    """Connecting, negotiating and authenticating share one timeout."""
    link = new_link()
    assert link.wake_at() == 10.0
    link.check(10.0)
    link.check(10.05)
    assert link.is_over


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("x" * 299, "x" * 299),
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 300 + "..."),
        ("\n" * 150, r"\n" * 150),
        ("\n" * 151, r"\n" * 150 + "..."),
    ],
    ids=["shorter", "as-long", "longer", "escaped", "escaped-longer"],
)
def test_message_of_a_broker_is_truncated_only_if_too_long(
    kwire, new_link, message, quote
):
    """An ellipsis shows that the message is incomplete."""
    link, broker = new_link(authenticate=True), Broker(kwire)
    broker.answer_of["SaslAuthenticateRequest"] = (
        kwire.messages.SaslAuthenticateResponse(error_code=58, error_message=message)
    )
    link.note_open(0.0)
    broker.exchange(link, 0.0)
    assert link.is_refused
    assert link.reason.endswith(quote) and f"{quote}..." not in link.reason


def test_sasl_is_suggested_only_if_it_is_likely(kwire, new_link):
    """The broker supports SASL, and closed the connection on the first request."""

    def close(*, sends=True, answers=False, offers=True, authenticate=False):
        link, broker = new_link(authenticate=authenticate), Broker(kwire)
        if not offers:
            negotiation = importlib.import_module(
                f"{kwire.__name__}.connection.negotiation"
            )
            table = negotiation.ApiVersionTable
            ranges = dict(table.of_release("4.1").ranges())
            for name in ("SaslHandshakeRequest", "SaslAuthenticateRequest"):
                del ranges[getattr(kwire.messages, name).api_key]
            broker.server = type(broker.server)(table.from_ranges(ranges))
        link.note_open(0.0)
        broker.exchange(link, 0.0)
        for answer in (True, False) if answers else (False,):
            broker.answers = answer
            if sends:
                request = kwire.messages.MetadataRequest(topics=None)
                link.send(request, lambda *_: None, 1.0)
                broker.exchange(link, 1.0)
        link.receive_data(b"", 2.0)
        assert link.is_over
        return link.may_lack_sasl

    assert close()
    assert not close(sends=False)
    assert not close(answers=True)
    assert not close(offers=False)
    assert not close(authenticate=True)
