#!/usr/bin/env python3
"""Rewriting in this build next to another one of Weft, e.g. of an older commit, in turns.

    against_build.py OTHER [--this build/release] [--model M.onnx] [--rounds 9] [--callgrind]

OTHER and --this are build folders with bin/bench_rewriting and bin/ir-opt. Both are measured with the rules of each
workload alone, and this build once more with all rules that run by default beside them. In every round the programs
run one after the other; a ratio is the median over rounds of this build's CPU time by the other's. With --model also
the CPU time of `ir-opt MODEL --pipeline fuse`, which reads, rewrites and writes. Exit 1 when a program fails.
"""

import argparse
import datetime
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

WORKLOADS = ("no_match", "many_patterns", "many_patterns_1000", "transpose_pairs", "wide_return", "cascade",
             "matmul_add_relu")
N, REPS, CALLGRIND_N = 100_000, 3, 20_000
DRIVER = "weft::passes::ApplyPatternsGreedily(*"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"against_build.py: {' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return done


def bench(build, workload, n, reps, *more):
    return [build / "bin/bench_rewriting", "--wl", workload, "--n", str(n), "--reps", str(reps), *more]


def ns_per_op(command):
    return float(run(command).stdout.split(",")[8])


def instructions(command):
    """In the driver, for each operation."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", f"--toggle-collect={DRIVER}",
                    *command])
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]) / CALLGRIND_N


def cpu_seconds(build, model):
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run([build / "bin/ir-opt", model, "--pipeline", "fuse", "-o", f"{folder}/out.onnx"])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def in_turns(rounds, measures):
    """The medians, and the median ratio of each to the first."""
    times = [[measure() for measure in measures] for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*times)]
    return medians, [statistics.median(row[i] / row[0] for row in times) for i in range(len(measures))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=pathlib.Path)
    parser.add_argument("--this", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--model")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--callgrind", action="store_true", help="instructions too; needs valgrind")
    args = parser.parse_args()
    print(f"{datetime.date.today()}, load {os.getloadavg()[0]:.1f}, N = {N}, median of {args.rounds} rounds\n")
    print("| workload | other ns/op | this ns/op | ratio | with the library | ratio |" + " instructions/op |" * 3 *
          args.callgrind)
    print("|---|--:|--:|--:|--:|--:|" + "--:|" * 3 * args.callgrind)
    for workload in WORKLOADS:
        kinds = [(args.other, ()), (args.this, ()), (args.this, ("--with", "library"))]
        commands = [bench(build, workload, N, REPS, *more) for build, more in kinds]
        (other, this, full), ratios = in_turns(args.rounds, [lambda c=c: ns_per_op(c) for c in commands])
        line = f"| `{workload}` | {other:.1f} | {this:.1f} | {ratios[1]:.2f} | {full:.1f} | {ratios[2]:.2f} |"
        if args.callgrind:
            for build, more in kinds:
                line += f" {instructions(bench(build, workload, CALLGRIND_N, 1, *more)):.0f} |"
        print(line, flush=True)
    if args.model:
        measures = [lambda b=b: cpu_seconds(b, args.model) for b in (args.other, args.this)]
        medians, ratios = in_turns(args.rounds, measures)
        print(f"\n`ir-opt {os.path.basename(args.model)} --pipeline fuse`, user CPU: {medians[0]:.3f} s, "
              f"{medians[1]:.3f} s, ratio {ratios[1]:.2f}")


if __name__ == "__main__":
    main()
