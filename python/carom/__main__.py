"""The command `carom`."""

import signal
import sys


def main() -> None:
    """Runs the command with the arguments of the process."""
    from . import _carom

    # The command has its own handler.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_carom.main(["carom", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
