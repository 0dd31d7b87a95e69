"""The table of known models (models.json, generated) and the script that makes it. Read by `providers.model_table`."""
