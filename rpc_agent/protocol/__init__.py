"""The wire contract as data: models, the method table, notifications, error codes, and their published forms.

Nothing is imported here, because the first answer must not wait for pydantic: name the module you need.
"""
