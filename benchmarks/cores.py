#!/usr/bin/env python3
"""Two cores of unequal speed together, by the sum of what each does alone.

    benchmarks/cores.py [--ir-run PATH] [--models DIR] [--cpus A,B] [--busy PERCENT] [--rounds N] [MODEL...]

In every round `ir-run --bench` runs on CPU A with one thread, on CPU B with one, and on both with two; a speed is the
median over rounds of 1 / p50. --busy makes B the slower one: a process of ours takes so much of it, some 100
microseconds at a time.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
PERIOD = 0.0004  # seconds


def keep_busy(cpu, share):
    os.sched_setaffinity(0, {cpu})
    while True:
        end = time.perf_counter() + PERIOD * share
        while time.perf_counter() < end:
            pass
        time.sleep(PERIOD * (1 - share))


def speed(program, model, cpus):
    """Runs a second."""
    command = ["taskset", "-c", ",".join(map(str, cpus)), program, model, "--random-inputs", "1", "--threads",
               str(len(cpus)), "--bench=json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"cores.py: {' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return 1000 / json.loads(done.stdout)["milliseconds"]["p50"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="MODEL", help="of DIR (bert_base, resnet50)")
    parser.add_argument("--ir-run", type=pathlib.Path, default=REPOSITORY / "build/release/bin/ir-run")
    parser.add_argument("--models", type=pathlib.Path, default=REPOSITORY / "build/models")
    parser.add_argument("--cpus", default="0,1")
    parser.add_argument("--busy", type=int, default=0, metavar="PERCENT")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    first, second = map(int, arguments.cpus.split(","))
    if arguments.busy:
        multiprocessing.Process(target=keep_busy, args=(second, arguments.busy / 100), daemon=True).start()
    print("| model | runs a second on CPU A | on B | on both | of the sum |\n|---|---|---|---|---|")
    for name in arguments.names or ["bert_base", "resnet50"]:
        speeds = [[speed(arguments.ir_run, arguments.models / f"{name}.onnx", cpus)
                   for cpus in ([first], [second], [first, second])] for _ in range(arguments.rounds)]
        a, b, both = (statistics.median(each) for each in zip(*speeds))
        of_sum = statistics.median(both / (a + b) for a, b, both in speeds)
        print(f"| {name} | {a:.1f} | {b:.1f} | {both:.1f} | {of_sum:.2f} |", flush=True)


if __name__ == "__main__":
    main()
