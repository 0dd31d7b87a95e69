"""A message that says nothing is refused by its field; one word or one image is a message."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio

IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
NO_IMAGES: tuple[dict[str, Any], ...] = ({}, {"images": []})
EMPTY: tuple[Any, ...] = ("", " ", "\n\t \r\n", [], [{"type": "text", "text": " \n"}])


@pytest.mark.parametrize("method", ["prompt", "steer", "follow_up"])
async def test_a_message_without_a_word_or_an_image_is_refused(tmp_path: Path, method: str) -> None:
    async with serving(Home(tmp_path)) as client:
        for message in EMPTY:
            for images in NO_IMAGES:
                with pytest.raises(RpcError) as refused:
                    await client.request(method, {"message": message, **images})
                assert (refused.value.code, refused.value.data) == (
                    -32602,
                    {
                        "reason": "invalidParams",
                        "errors": [{"path": "message", "message": "is empty; give it a text or an image"}],
                    },
                )
        assert (await client.request("get_state"))["messageCount"] == 0


@pytest.mark.parametrize("params", [{"message": "", "images": [IMAGE]}, {"message": [IMAGE]}])
async def test_an_image_alone_is_a_message(tmp_path: Path, params: dict[str, Any]) -> None:
    home = Home(tmp_path)
    home.script({"text": "A picture."}, input=["text", "image"])
    async with serving(home) as client:
        assert (await client.request("prompt", {**params, "wait": True}))["text"] == "A picture."
