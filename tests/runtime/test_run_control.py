"""RunControl by itself: what no sequence of requests reaches for certain."""

from typing import NoReturn

import pytest

from rpc_agent.agent.inbox import Inbox
from rpc_agent.errors import AuthMissing
from rpc_agent.runtime.broadcast import Broadcast
from rpc_agent.runtime.exchanges import Exchanges
from rpc_agent.runtime.run_control import RunControl

pytestmark = pytest.mark.anyio


def no_key() -> NoReturn:
    raise AuthMissing("Set A_KEY to use this model.")


def no_run(work: object) -> NoReturn:
    raise AssertionError("nothing shall be started")


async def test_when_the_model_lost_its_key_queued_messages_stay_and_who_waits_is_told() -> None:
    control = RunControl(Inbox(), Exchanges(), no_key, broadcast=Broadcast(), spawn=no_run)
    exchange = control.queue("later", "followUp").exchange
    control.run_queued()
    assert exchange.settled.is_set()
    assert (exchange.stop_reason, exchange.error_reason) == ("error", "authMissing")
    assert exchange.error_message == "Set A_KEY to use this model."
    assert (control.is_running, [message.text for message in control.inbox.all()]) == (False, ["later"])


async def test_who_withdraws_a_message_whose_answer_is_under_way_takes_nothing_back() -> None:
    control = RunControl(Inbox(), Exchanges(), no_key, broadcast=Broadcast(), spawn=no_run)
    exchange = control.queue("kept", "steer").exchange
    control.leave_queued()
    control.withdraw(exchange)
    assert (exchange.dropped, [message.text for message in control.inbox.all()]) == (False, ["kept"])
