"""The command line: one file a command, arguments in, exit code out."""
