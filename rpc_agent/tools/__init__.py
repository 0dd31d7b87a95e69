"""What the model may do on this machine, one file per tool. A failing tool is a value, never an exception."""
