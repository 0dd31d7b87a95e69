"""What a tool may do: rules and decisions. Pure; whoever asks the user or resolves a path does it before or after."""
