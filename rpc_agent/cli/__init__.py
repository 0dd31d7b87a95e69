"""The commands a person types: a module each, with `main(arguments) -> exit code`. Nobody below imports them."""
