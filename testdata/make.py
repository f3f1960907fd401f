"""Make the golden programs of this directory from `programs/`: python testdata/make.py.

Inputs are seeded by the program's name, expected values are the reference engine's. The files are looked at once, when
they are made, and never made anew to let a test pass.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from shlo_quant.files import read_program, write_program
from shlo_quant.golden import make_golden
from shlo_quant.passes.dialects.context import new_context

HERE = Path(__file__).parent


def seed_of(source: Path) -> int:
    """A seed that no other program has and that does not change when programs are added."""
    return zlib.crc32(source.stem.encode())


def main() -> None:
    """Write one golden program for each program."""
    for source in sorted((HERE / "programs").glob("*.mlir")):
        golden = make_golden(read_program(source, new_context()), seed_of(source))
        write_program(golden, HERE / source.name)
        print(source.stem)


if __name__ == "__main__":
    main()
