import json
import os
import sys
from pathlib import Path, PurePosixPath
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpc_agent.conversation import models
from rpc_agent.errors import SettingsError
from rpc_agent.permissions.rules import Mode
from rpc_agent.settings import (
    FIELDS,
    CompactionSettings,
    PermissionRule,
    PermissionSettings,
    Settings,
    is_trusted,
    load_settings,
    load_trust,
    project_settings_file,
    user_settings_file,
)
from rpc_agent.settings.fields import PERMISSION_MODES, QUEUE_MODES, THINKING_LEVELS, problems, settings_schema
from rpc_agent.settings.values import PermissionMode, QueueMode


def write(file: Path, value: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def loaded(tmp_path: Path, user: object = None, project: object = None, **more: Any) -> Settings:
    config, place = tmp_path / "config", tmp_path / "project"
    if user is not None:
        write(user_settings_file(config), user)
    if project is not None:
        write(project_settings_file(place), project)
    return load_settings(config, place if project is not None else None, **more)


def test_without_files_every_setting_has_its_default(tmp_path: Path) -> None:
    settings = loaded(tmp_path)
    assert settings.compaction == CompactionSettings()
    assert settings.compaction_settings("p/m") == CompactionSettings()
    assert set(settings.origins.values()) == {"default"}
    assert settings.values == {field.name: field.default for field in FIELDS}
    assert Settings(values=settings.values, origins=settings.origins) == settings


def test_a_later_place_wins_and_each_value_knows_where_it_came_from(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        {"defaultModel": "a/b", "retry": {"maxRetries": 5, "baseDelayMs": 1}},
        {"retry": {"maxRetries": 7}, "steeringMode": "all"},
        session={"offline": False},
        command_line={"defaultModel": "c/d/e"},
    )
    names = ("defaultModel", "retry.maxRetries", "retry.baseDelayMs", "steeringMode", "offline", "followUpMode")
    assert {name: (settings.values[name], settings.origins[name]) for name in names} == {
        "defaultModel": ("c/d/e", "commandLine"),
        "retry.maxRetries": (7, "project"),
        "retry.baseDelayMs": (1, "user"),
        "steeringMode": ("all", "project"),
        "offline": (False, "session"),
        "followUpMode": ("one-at-a-time", "default"),
    }
    assert (settings.default_model, settings.retry.max_retries, settings.offline) == ("c/d/e", 7, False)


def test_the_words_that_are_listed_twice_are_the_same() -> None:
    # Packages of one row cannot take them from each other, and a type is no list.
    assert THINKING_LEVELS == models.THINKING_LEVELS
    assert (get_args(PermissionMode), get_args(QueueMode)) == (PERMISSION_MODES, QUEUE_MODES)
    assert get_args(Mode) == get_args(PermissionMode)


def test_an_untrusted_project_is_not_read(tmp_path: Path) -> None:
    write(project_settings_file(tmp_path / "project"), "not even JSON")
    assert load_settings(tmp_path / "config", None) == loaded(tmp_path)


def test_compaction_is_decided_per_field_by_override_then_ordinary_then_default(tmp_path: Path) -> None:
    compaction = {
        "reserveTokens": 100,
        "thresholdPercent": 80,
        "modelOverrides": {"p/m": {"reserveTokens": 7, "enabled": False}},
    }
    settings = loaded(
        tmp_path, {"compaction": compaction}, {"compaction": {"modelOverrides": {"p/m": {"enabled": True}}}}
    )
    assert settings.compaction_settings("p/m") == CompactionSettings(reserve_tokens=7, threshold_percent=80)
    assert settings.compaction_settings("p/x") == CompactionSettings(reserve_tokens=100, threshold_percent=80)


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_a_pipe_or_a_device_in_the_place_of_a_file_is_told_and_not_waited_for(tmp_path: Path) -> None:
    place = user_settings_file(tmp_path)
    os.mkfifo(place)
    with pytest.raises(SettingsError, match="is a pipe or a device"):
        load_settings(tmp_path)
    place.unlink()
    place.symlink_to("/dev/zero")
    with pytest.raises(SettingsError, match="is a pipe or a device"):
        load_settings(tmp_path)
    place.unlink()
    place.mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path)


def test_a_project_can_only_tighten_permissions(tmp_path: Path) -> None:
    deny, allow = {"tool": "bash", "match": "rm *", "action": "deny"}, {"tool": "bash", "action": "allow"}
    settings = loaded(
        tmp_path,
        {"permissions": {"mode": "workspace", "rules": [{"tool": "edit", "action": "allow"}]}},
        {"permissions": {"mode": "allow", "rules": [deny, allow]}},
    )
    assert settings.permissions == PermissionSettings(
        mode="workspace",
        rules=(PermissionRule(tool="edit", action="allow"), PermissionRule(tool="bash", match="rm *", action="deny")),
    )
    assert len(settings.warnings) == 2
    assert loaded(tmp_path / "2", {}, {"permissions": {"mode": "ask"}}).permissions.mode is None
    assert (
        loaded(tmp_path / "3", {"permissions": {"mode": "allow"}}, {"permissions": {"mode": "ask"}}).permissions.mode
        == "ask"
    )


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"defaultModel": "no-slash"}, "defaultModel"),
        ({"defaultThinkingLevel": "hard"}, "defaultThinkingLevel"),
        ({"compaction": {"reserveTokens": -1}}, "compaction.reserveTokens"),
        ({"compaction": {"keepRecentTokens": 1.5}}, "compaction.keepRecentTokens"),
        ({"compaction": {"keepRecentTokens": True}}, "compaction.keepRecentTokens"),
        ({"retry": {"maxDelayMs": 10**400}}, "retry.maxDelayMs"),
        ("9" * 5000, "file"),
        ({"compaction": {"thresholdPercent": 101}}, "compaction.thresholdPercent"),
        (
            {"compaction": {"modelOverrides": {"p/m": {"reserveTokens": "x"}}}},
            "compaction.modelOverrides.p/m.reserveTokens",
        ),
        ({"compaction": []}, "compaction"),
        ({"retry": {"enabled": "yes"}}, "retry.enabled"),
        ({"permissions": {"mode": "free"}}, "permissions.mode"),
        ({"permissions": {"rules": [{"tool": "bash", "action": "maybe"}]}}, "permissions.rules.0.action"),
        ({"permissions": {"rules": [{"tool": "bash"}]}}, "permissions.rules.0.action"),
        (
            {"permissions": {"rules": [{"tool": "bash", "pattern": "ls*", "action": "allow"}]}},
            "permissions.rules.0.pattern",
        ),
        ({"tools": "read"}, "tools"),
        ({"shell": {"passEnv": [1]}}, "shell.passEnv.0"),
        ([], "settings"),
    ],
)
def test_a_bad_value_names_field_and_file(tmp_path: Path, value: object, field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, value)
    file = str(user_settings_file(tmp_path / "config"))
    assert caught.value.details == {"field": field, "file": file}
    assert caught.value.message.startswith(f"{file}: {field}: ")


def test_a_setting_in_both_forms_is_checked_in_both() -> None:
    both = {"compaction": {"keepRecentTokens": "x"}, "compaction.keepRecentTokens": 5}
    assert [name for name, _ in problems(both)] == ["compaction.keepRecentTokens"]


def test_what_is_not_json_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"settings\.json: line 3 column 1: is not JSON"):
        loaded(tmp_path, '{"offline": true,\n\nx}')


def test_a_byte_order_mark_and_an_empty_file_are_no_error(tmp_path: Path) -> None:
    assert loaded(tmp_path, '\ufeff{"offline": false}').offline is False
    assert loaded(tmp_path / "2", "  ").offline is True


def test_an_unknown_field_is_a_warning(tmp_path: Path) -> None:
    rule = {"tool": "bash", "match": "ls", "action": "allow", "why": "x"}
    overrides = {"p/m": {"keepRecent": 1}}
    settings = loaded(
        tmp_path,
        {
            "ofline": False,
            "retry": {"max": 1},
            "$schema": "x",
            "permissions": {"rules": [rule]},
            "compaction": {"modelOverrides": overrides},
        },
    )
    assert [warning.partition("settings.json: ")[2] for warning in settings.warnings] == [
        "ofline: unknown setting, ignored",
        "retry.max: unknown setting, ignored",
        "permissions.rules.0.why: unknown setting, ignored",
        "compaction.modelOverrides.p/m.keepRecent: unknown setting, ignored",
    ]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([2**53 - 1, 2**53])
    | st.text(max_size=3)
    | st.sampled_from(["all", "a/b", "allow"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from([field.name for field in FIELDS]), JSON)
def test_the_published_schema_and_the_check_agree(name: str, value: object) -> None:
    section, _, part = name.rpartition(".")
    settings: object = {section: {part: value}} if section else {part: value}
    found = list(problems(settings))
    valid = jsonschema.Draft202012Validator(settings_schema()).is_valid(settings)
    assert valid == (not found), found


def test_the_nearest_ancestor_decides_about_trust(tmp_path: Path) -> None:
    write(tmp_path / "trust.json", {"/home/me": True, "/home/me/downloads": False})
    trust = load_trust(tmp_path)
    paths = ("/home/me/a/b", "/home/me", "/home/me/downloads/x", "/home/mean", "/")
    assert [is_trusted(trust, PurePosixPath(path)) for path in paths] == [True, True, False, False, False]
    assert load_trust(tmp_path / "nowhere") == {}


@pytest.mark.skipif(sys.platform == "win32", reason="the home is named by another variable there")
def test_a_folder_of_the_home_may_be_named_by_its_short_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    write(tmp_path / "trust.json", {"/home/me": True, "~/downloads": False, "~other": True})
    trust = load_trust(tmp_path)
    assert [is_trusted(trust, PurePosixPath(path)) for path in ("/home/me/a", "/home/me/downloads/a")] == [True, False]


@pytest.mark.parametrize("value", ['{"/a": 1}', "[]", "{"])
def test_a_broken_trust_file_is_an_error_and_not_trust(tmp_path: Path, value: str) -> None:
    write(tmp_path / "trust.json", value)
    with pytest.raises(SettingsError, match=r"trust\.json"):
        load_trust(tmp_path)
