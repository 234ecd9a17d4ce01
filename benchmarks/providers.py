#!/usr/bin/env python3
"""XNNPACK's kernels next to ours, op by op, at the shapes of models.

    benchmarks/providers.py [--ir-run PATH] [--models DIR] [--threads N] [--isa I] [--verbose] [MODEL...]

Every model runs with `ir-run --provider xnnpack --tune`, which times both in place and in turns. Of each
op: at how many shapes both run it, how many times as long XNNPACK takes (least, median and most), and at
how many it is faster beyond 3 %. --verbose prints every shape. The order of `auto` (kernels/README.md)
follows from these figures.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
# operation, "xnnpack 12.3", "native 10.1, native avx2 14.0"
ROW = re.compile(r"(\S+) (\{.*->.*?) {2,}xnnpack ([\d.]+) {2,}(.*)")
NATIVE = re.compile(r"\bnative ([\d.]+)")


def measure(program, model, arguments):
    """{(op, shapes): (microseconds of XNNPACK, ours)}"""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, model, "--random-inputs", "1", "--provider", "xnnpack", "--tune", f"{folder}/tuned",
                   "--threads", str(arguments.threads), *(["--isa", arguments.isa] if arguments.isa else [])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"providers.py: {' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        row = ROW.match(line)
        native = row and NATIVE.search(row[4])
        if native:
            found[row[1], row[2]] = float(row[3]), float(native[1])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="MODEL", help="of DIR (all)")
    parser.add_argument("--ir-run", type=pathlib.Path, default=REPOSITORY / "build/release/bin/ir-run")
    parser.add_argument("--models", type=pathlib.Path, default=REPOSITORY / "build/models")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--isa", help="of our kernels (the best of the machine)")
    parser.add_argument("--verbose", action="store_true", help="every shape")
    arguments = parser.parse_args()
    names = arguments.names or sorted(path.stem for path in arguments.models.glob("*.onnx"))
    if not names:
        sys.exit(f"providers.py: no models in {arguments.models}; run benchmarks/models/export.py")
    times = {}
    for name in names:
        times.update(measure(arguments.ir_run, arguments.models / f"{name}.onnx", arguments))
        print(f"{name}: {len(times)} shapes so far", file=sys.stderr)
    ratios = {}
    for (op, shapes), (xnnpack, native) in times.items():
        ratios.setdefault(op, []).append(xnnpack / native)
        if arguments.verbose:
            print(f"{xnnpack / native:6.2f} {op} {shapes}")
    print("| op | shapes | XNNPACK / ours: least | median | most | XNNPACK faster |\n|---|---|---|---|---|---|")
    for op, of_op in sorted(ratios.items()):
        faster = sum(ratio < 1 / 1.03 for ratio in of_op)
        print(f"| {op} | {len(of_op)} | {min(of_op):.2f} | {statistics.median(of_op):.2f} | {max(of_op):.2f} "
              f"| {faster} |")


if __name__ == "__main__":
    main()
