"""What a user may configure: the values, where each came from, and which projects are trusted. Knows no protocol."""

from rpc_agent.settings.fields import FIELDS, Field, problems
from rpc_agent.settings.files import load_settings, project_settings_file, user_settings_file
from rpc_agent.settings.merging import Layer, Origin, combine
from rpc_agent.settings.trust import is_trusted, load_trust
from rpc_agent.settings.values import (
    CompactionSettings,
    PermissionRule,
    PermissionSettings,
    RetrySettings,
    Settings,
    ShellSettings,
)

__all__ = [
    "FIELDS",
    "CompactionSettings",
    "Field",
    "Layer",
    "Origin",
    "PermissionRule",
    "PermissionSettings",
    "RetrySettings",
    "Settings",
    "ShellSettings",
    "combine",
    "is_trusted",
    "load_settings",
    "load_trust",
    "problems",
    "project_settings_file",
    "user_settings_file",
]
