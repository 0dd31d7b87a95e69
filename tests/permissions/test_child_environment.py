from rpc_agent.permissions.environment import child_environment

KEY = "sk-0123456789abcdef"


def test_keys_are_taken_out_and_the_rest_stays():
    environment = {"PATH": "/bin", "OPENAI_API_KEY": KEY, "groq_api_key": "short", "HOME": "/home/ann"}
    assert child_environment(environment, ["OPENAI_API_KEY", "GROQ_API_KEY"]) == {"PATH": "/bin", "HOME": "/home/ann"}


def test_some_are_let_through():
    environment = {"OPENAI_API_KEY": KEY, "GROQ_API_KEY": KEY + "x"}
    assert child_environment(environment, ["OPENAI_API_KEY", "GROQ_API_KEY"], ["OPENAI_API_KEY"]) == {
        "OPENAI_API_KEY": KEY
    }


def test_a_copy_of_a_key_under_another_name_is_a_key():
    environment = {"OPENAI_API_KEY": KEY, "MY_COPY": KEY, "WANTED": KEY, "EMPTY": ""}
    assert child_environment(environment, ["OPENAI_API_KEY"], ["WANTED"]) == {"WANTED": KEY, "EMPTY": ""}


def test_an_empty_key_takes_nothing_else_out():
    assert child_environment({"OPENAI_API_KEY": "", "EMPTY": ""}, ["OPENAI_API_KEY"]) == {"EMPTY": ""}
