"""`rpc-agent models`: which models there are, what they hold and cost, and which variable a missing key goes into.

Looks for servers on this machine; asks a provider only with --refresh. Shows no key.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct

from rpc_agent.cli.advice import next_step
from rpc_agent.cli.arguments import Parser, here, with_config_dir
from rpc_agent.cli.terminal import Terminal, standard_error, standard_output
from rpc_agent.conversation.models import Model
from rpc_agent.errors import RpcAgentError
from rpc_agent.platform.paths import config_dir
from rpc_agent.providers.catalog import Catalog, load_catalog
from rpc_agent.providers.local_models import LocalKind
from rpc_agent.providers.local_servers import USUAL_PORTS, find_local_servers
from rpc_agent.providers.thinking import available_thinking_levels
from rpc_agent.settings import is_trusted, load_trust

_SHOWN_WITHOUT_KEY = 3
"""Models of a provider that has no key: the usual choices. Hundreds of others would hide what can be used."""
_REF_WIDTH = 44


class Offer(Struct, frozen=True):
    """One model, and whether it could answer now. `variable` is where its provider's key goes, "" where none does."""

    model: Model
    available: bool
    variable: str
    local: bool

    def to_json(self) -> dict[str, Any]:
        tiers = [{"inputTokensAbove": tier.above, **tier.prices} for tier in self.model.price_tiers]
        return {
            "ref": self.model.ref,
            **self.model.to_json(),
            "priceTiers": tiers,
            "thinkingLevels": list(available_thinking_levels(self.model)),
            "available": self.available,
            "variable": self.variable or None,
            "local": self.local,
        }


class Listing(Struct, frozen=True):
    offers: Sequence[Offer]
    troubles: Sequence[str] = ()
    """Providers that could not be asked, and why."""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    environment = with_config_dir(os.environ, options.config_dir)
    ports = {} if options.no_local else USUAL_PORTS
    try:
        listing = asyncio.run(list_models(environment, here(), ports=ports, refresh=options.refresh))
    except RpcAgentError as error:
        standard_error().line(f"rpc-agent models: {error}", "bad")
        standard_error().line(f"  {next_step('invalidParams', error.message)}", "dim")
        return 1
    offers = matching(listing.offers, options.words)
    if options.json:
        sys.stdout.write(json.dumps({"models": [offer.to_json() for offer in offers]}, indent=1) + "\n")
    else:
        show(standard_output(), offers, everything=options.all or bool(options.words))
    for trouble in listing.troubles:
        standard_error().line(trouble, "note")
    return 0 if offers else 1


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="rpc-agent models",
        description="The models that can be chosen, with their limits and prices, and what a missing key is called.",
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help="only models whose name holds all words")
    parser.add_argument("--all", action="store_true", help="all models of providers without a key, too")
    parser.add_argument("--json", action="store_true", help="everything that is known of all of them, as JSON")
    parser.add_argument("--refresh", action="store_true", help="ask each provider with a key for its own list")
    parser.add_argument("--no-local", action="store_true", help="do not look for servers on this machine")
    parser.add_argument("--config-dir", metavar="DIR", help="where settings.json and models.json are")
    return parser


async def list_models(
    environment: Mapping[str, str], cwd: Path, *, ports: Mapping[LocalKind, int] = USUAL_PORTS, refresh: bool = False
) -> Listing:
    """All models in the catalog's order, with those of local servers on `ports`. Raises SettingsError."""
    config = config_dir(environment)
    catalog = _catalog(config, environment, cwd)
    try:
        servers = await find_local_servers(ports) if ports else []
        catalog.add_local(servers)
        troubles = [line async for line in _refresh(catalog)] if refresh else []
    finally:
        await catalog.aclose()
    local = {server.kind for server in servers}
    offers = [
        Offer(model, catalog.has_key(model.provider), catalog.key_variable(model.provider), model.provider in local)
        for model in catalog.models()
    ]
    return Listing(offers, troubles)


def _catalog(config: Path, environment: Mapping[str, str], cwd: Path) -> Catalog:
    trusted = is_trusted(load_trust(config), cwd.resolve())
    return load_catalog(config, environment, cwd if trusted else None)


async def _refresh(catalog: Catalog) -> AsyncGenerator[str, None]:
    for provider in dict.fromkeys(model.provider for model in catalog.available_models() if model.base_url):
        try:
            await catalog.refresh(provider)
        except RpcAgentError as error:
            yield f"{provider} was not asked for its models: {error.message}"


def matching(offers: Iterable[Offer], words: Sequence[str]) -> list[Offer]:
    return [offer for offer in offers if all(word.lower() in offer.model.ref.lower() for word in words)]


def show(out: Terminal, offers: Sequence[Offer], *, everything: bool) -> None:
    """A block for each provider, a line for each model."""
    for provider, group in groupby(offers, key=lambda offer: offer.model.provider):
        models = list(group)
        shown = models if everything or models[0].available else models[:_SHOWN_WITHOUT_KEY]
        out.line(f"{provider}: {_key(models[0])}", "bold" if models[0].available else "plain")
        for offer in shown:
            out.line(_line(offer.model), "plain" if offer.available else "dim")
        if len(shown) < len(models):
            out.line(f"  and {len(models) - len(shown)} more (--all)", "dim")
    if not offers:
        out.line("No model has such a name. Without a word, rpc-agent models names them all.", "note")


def _key(offer: Offer) -> str:
    if offer.local:
        return f"runs on this machine at {offer.model.base_url}"
    if not offer.available:
        return f"set {offer.variable} to use it"
    return f"key in {offer.variable}" if offer.variable else "ready"


def _line(model: Model) -> str:
    limits = f"{_tokens(model.context_window):>6} window {_tokens(model.max_tokens):>6} output"
    return f"  {model.ref:{_REF_WIDTH}} {limits}  {_price(model)}".rstrip()


def _tokens(count: int) -> str:
    """Short: 128k, 1.05M; ? where nobody knows."""
    if not count:
        return "?"
    if count < 1000:
        return str(count)
    return f"{count / 1_000_000:.3g}M" if count >= 1_000_000 else f"{count / 1000:.0f}k"


def _price(model: Model) -> str:
    if not model.cost:
        return ""
    price = f"${model.cost.get('input', 0):g} in, ${model.cost.get('output', 0):g} out per million"
    return price + (f" (more above {_tokens(model.price_tiers[0].above)})" if model.price_tiers else "")
