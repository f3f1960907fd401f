"""The command: `python -m tests.single_op --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import __doc__ as description
from .programs import BATCH, CASES, Tally


def main(arguments: Sequence[str]) -> int:
    """Compare, print a table and every fault; 1 if there is any."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000, help="cases (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first case (default: %(default)s)")
    parser.add_argument("--kind", choices=CASES, nargs="*", help="only these kinds of case", metavar="KIND")
    options = parser.parse_args(arguments)
    cases = {kind: case for kind, case in CASES.items() if not options.kind or kind in options.kind}
    tally = Tally()
    for first in range(options.seed, options.seed + options.count, BATCH):
        tally.add(range(first, min(first + BATCH, options.seed + options.count)), cases)
    for kind in sorted(tally.cases):
        print(f"{kind:28}{tally.cases[kind]:8}{tally.mismatches[kind]:8}")
    print(f"{'all':28}{tally.cases.total():8}{tally.mismatches.total():8}")
    print(*tally.faults, sep="\n")
    return int(bool(tally.faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
