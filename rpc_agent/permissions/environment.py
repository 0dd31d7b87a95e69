"""What child processes may know of the environment. Pure."""

from collections.abc import Iterable, Mapping


def child_environment(
    environment: Mapping[str, str], secret_names: Iterable[str], pass_names: Iterable[str] = ()
) -> dict[str, str]:
    """The environment without the variables named as secret, except those that `pass_names` lets through.

    Names are compared without regard to case, as Windows does it; elsewhere that takes out too much at worst. A
    variable under another name that holds the value of a secret one is taken out too: a copy of a key is a key.
    """
    passed = {name.casefold() for name in pass_names}
    secret = {name.casefold() for name in secret_names} - passed
    # An empty or tiny value would take half the environment with it.
    values = {value for name, value in environment.items() if name.casefold() in secret and len(value) >= _KEY_LENGTH}
    return {
        name: value
        for name, value in environment.items()
        if name.casefold() in passed or (name.casefold() not in secret and value not in values)
    }


_KEY_LENGTH = 16
"""No provider's keys are shorter, and few other values are as long and equal by accident."""
