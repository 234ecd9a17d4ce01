#!/usr/bin/env python3
"""Weft next to MLIR on the rewriting workloads: runs both programs in turns and prints tables.

    compare.py --weft build/release/bin/bench_rewriting --mlir build/mlir/mlirbench [--quick] [--callgrind]

Every cell is the median of several rounds; in each round the programs run one after the other, so that
a slow minute of the machine hits both. MLIR is the best of C++ and PDL patterns in all configurations of its version
(mlirbench.cpp). Ratios are MLIR's time over Weft's. Exits with 1 when a program fails or leaves the
wrong operations, never because a target is missed.
"""

import argparse
import datetime
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile

SIZES = (1000, 10_000, 100_000, 1_000_000)
REPS = {1000: 21, 10_000: 9, 100_000: 3, 1_000_000: 1}
# The ratio that is asked for at 1e5.
REWRITING = {
    "transpose_pairs": 7, "wide_return": 10, "cascade": 5, "matmul_add_relu": 10, "no_match": 10,
    "many_patterns": 10, "many_patterns_1000": None,
}
WHOLE_PROGRAM = {"build": 2, "walk": None, "verify": 5, "print_generic": 3, "parse_text": 5, "destroy": None}
PROGRAMS = ("transpose_pairs", "matmul_add_relu")
# MLIR's default configuration visits the one wide return again for each rewrite: 25 s at 1e5.
QUADRATIC_FROM = {("wide_return", "default"): 100_000}
CALLGRIND_N = 20_000
ENTRY_POINTS = {
    "weft": "weft::passes::ApplyPatternsGreedily(*",
    "mlir": "mlir::applyPatterns*Greedily(*",
}


class Row:
    """One line of the programs' CSV."""

    def __init__(self, line):
        (self.mode, self.workload, self.form, self.config, n, self.metric, self.median, _, ns_op, ns_rewrite,
         ops, rewrites, peak_kb, extra) = line.split(",", 13)
        self.n, self.seconds = int(n), float(self.median)
        self.ns_op, self.ns_rewrite = float(ns_op), float(ns_rewrite)
        self.ops, self.rewrites, self.peak_kb = int(ops), int(rewrites), int(peak_kb)
        self.extra = dict(item.split("=", 1) for item in extra.split() if "=" in item)


class Runner:
    def __init__(self, weft, mlir):
        self.paths = {"weft": weft, "mlir": mlir}
        said = subprocess.run([mlir, "--mode", "configurations"], capture_output=True, text=True, check=False)
        if said.returncode != 0:
            sys.exit(f"compare.py: {mlir} --mode configurations: exit {said.returncode}\n{said.stderr}")
        self.mlir_version, *self.configurations = said.stdout.split()

    def command(self, program, mode, workload, n, reps, form="cpp", config="default"):
        command = [self.paths[program], "--mode", mode, "--wl", workload, "--n", str(n), "--reps", str(reps)]
        if program == "mlir":
            command += ["--form", form, "--cfg", config]
        return command

    def run(self, *args, **kwargs):
        command = self.command(*args, **kwargs)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            sys.exit(f"compare.py: {' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return [Row(line) for line in done.stdout.splitlines()]


def middle(rows):
    """The row of median time."""
    return sorted(rows, key=lambda row: row.seconds)[len(rows) // 2]


def table(title, header, rows):
    print(f"\n### {title}\n")
    widths = [max(len(str(cell)) for cell in column) for column in zip(header, *rows)]
    for i, cells in enumerate([header, *rows]):
        print("| " + " | ".join(str(c).ljust(w) if j == 0 else str(c).rjust(w)
                                for j, (c, w) in enumerate(zip(cells, widths))) + " |")
        if i == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    sys.stdout.flush()


def verdict(ratio, target):
    if target is None:
        return "", ""
    return f">= {target}x", "met" if ratio >= target else "MISSED"


def limit(value, target):
    return "met" if value <= target else "MISSED"


def mlir_configs(runner, workload, n):
    return [(form, cfg) for form in ("cpp", "pdl") for cfg in runner.configurations
            if n < QUADRATIC_FROM.get((workload, cfg), n + 1)]


def rewriting(runner, sizes, rounds):
    """All workloads; returns Weft's median rows by (workload, n)."""
    weft, lines = {}, []
    for workload, target in REWRITING.items():
        for n in sizes:
            times = {}
            for _ in range(rounds if n < 1_000_000 else min(rounds, 3)):
                times.setdefault("weft", []).extend(runner.run("weft", "rewrite", workload, n, REPS[n]))
                for form, cfg in mlir_configs(runner, workload, n):
                    times.setdefault((form, cfg), []).extend(
                        runner.run("mlir", "rewrite", workload, n, REPS[n], form, cfg))
            medians = {key: middle(rows) for key, rows in times.items()}
            ours = weft[workload, n] = medians.pop("weft")
            key, best = min(medians.items(), key=lambda item: item[1].seconds)
            for row in medians.values():
                if row.extra["opsAfter"] != ours.extra["opsAfter"]:
                    sys.exit(f"compare.py: {workload} {n}: MLIR ({row.form}, {row.config}) leaves "
                             f"{row.extra['opsAfter']} ops, Weft {ours.extra['opsAfter']}")
            ratio = best.seconds / ours.seconds
            lines.append([workload, n, f"{ours.ns_op:.1f}", f"{ours.ns_rewrite:.0f}", f"{best.ns_op:.1f}",
                          f"{best.ns_rewrite:.0f}", "/".join(key), f"{ratio:.2f}",
                          *(verdict(ratio, target) if n == 100_000 else ("", ""))])
    table("Greedy rewriting", ["workload", "N", "ns/op", "ns/rewrite", "MLIR ns/op", "ns/rewrite", "MLIR's best",
                               "ratio", "target", ""], lines)
    return weft


def scaling(weft, sizes):
    lines = []
    if 10_000 in sizes and 1_000_000 in sizes:
        for workload in REWRITING:
            growth = weft[workload, 1_000_000].ns_op / weft[workload, 10_000].ns_op
            lines.append([f"{workload}: ns/op at 1e6 over 1e4", f"{growth:.2f}", "<= 2", limit(growth, 2)])
    if 100_000 in sizes:
        flat = weft["many_patterns_1000", 100_000].ns_op / weft["many_patterns", 100_000].ns_op
        lines.append(["ns/op of 1000 patterns over 100, at 1e5", f"{flat:.2f}", "<= 1.3", limit(flat, 1.3)])
    table("Scaling", ["", "Weft", "target", ""], lines)


def memory(runner, n):
    lines = []
    for workload in REWRITING:
        graph = runner.run("weft", "build", workload, n, 1)[0].extra
        theirs = runner.run("mlir", "build", "many_patterns" if "many" in workload else workload, n, 1)[0].extra
        peaks = {}
        for program in ("weft", "mlir"):
            config = "fast" if workload == "wide_return" else "default"
            row = runner.run(program, "rewrite", workload, n, 1, "cpp", config)[0]
            peaks[program] = row.peak_kb * 1024 / row.ops
        lines.append([workload, n, graph["graphB/op"], graph["heapB/op"], theirs["heapB/op"],
                      limit(float(graph["graphB/op"]), 64), f"{peaks['weft']:.0f}", f"{peaks['mlir']:.0f}",
                      limit(peaks["weft"], 110)])
    table("Memory, bytes an op (graph <= 64; peak resident set of one rewrite <= 110)",
          ["workload", "N", "graph", "heap", "MLIR heap", "", "peak", "MLIR peak", ""], lines)


def whole_program(runner, sizes, rounds):
    lines = []
    for workload in PROGRAMS:
        for n in sizes:
            rows = {"weft": {}, "mlir": {}}
            for _ in range(rounds):
                for program, metrics in rows.items():
                    for row in runner.run(program, "build", workload, n, REPS[n]):
                        metrics.setdefault(row.metric, []).append(row)
            for metric, target in WHOLE_PROGRAM.items():
                lines.append(compared(f"{metric} {workload}", n, rows, metric, target))
    for workload in ("cse", "cascade", "dead"):
        for n in sizes:
            rows = {"weft": {}, "mlir": {}}
            for _ in range(rounds):
                for program, metrics in rows.items():
                    for row in runner.run(program, "pass", workload, n, REPS[n]):
                        metrics.setdefault(row.metric, []).append(row)
            if workload != "dead":
                lines.append(compared(f"cse {workload}", n, rows, "cse", 5))
    table("Whole programs, ns/op", ["", "N", "Weft", "MLIR", "ratio", "target", ""], lines)


def compared(label, n, rows, metric, target):
    ours, theirs = (statistics.median(row.ns_op for row in rows[p][metric]) for p in ("weft", "mlir"))
    ratio = theirs / ours if ours else float("inf")
    return [label, n, f"{ours:.1f}", f"{theirs:.1f}", f"{ratio:.2f}",
            *(verdict(ratio, target) if n == 100_000 else ("", ""))]


def freezing(runner):
    lines = []
    for workload in ("many_patterns", "many_patterns_1000"):
        rows = {row.metric: row for row in runner.run("weft", "freeze", workload, 1000, 21)}
        record, freeze = (rows[m].seconds * 1e3 for m in ("record_rules", "freeze_patterns"))
        theirs = [runner.run("mlir", "freeze", workload, 1000, 5, form)[0].seconds * 1e3 for form in ("cpp", "pdl")]
        met = limit(freeze, 0.5) if workload == "many_patterns" else ""
        lines.append([rows["freeze_patterns"].extra["rules"], f"{record:.3f}", f"{freeze:.3f}", f"{theirs[0]:.3f}",
                      f"{theirs[1]:.3f}", "<= 0.5" if met else "", met])
    table("Making and freezing rules, ms", ["rules", "record, check", "freeze", "MLIR C++", "MLIR PDL", "target", ""],
          lines)


def instructions(runner):
    """Instructions inside the driver call, by callgrind."""
    lines = []
    for workload in REWRITING:
        counts = {}
        for program, entry in ENTRY_POINTS.items():
            for cfg in runner.configurations if program == "mlir" else ["default"]:
                if CALLGRIND_N >= QUADRATIC_FROM.get((workload, cfg), CALLGRIND_N + 1):
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                               f"--toggle-collect={entry}",
                               *runner.command(program, "rewrite", workload, CALLGRIND_N, 1, "cpp", cfg)]
                    done = subprocess.run(command, capture_output=True, text=True, check=False)
                found = re.search(r"Collected : (\d+)", done.stderr)
                if done.returncode != 0 or not found or int(found[1]) == 0:
                    sys.exit(f"compare.py: {' '.join(command)}: exit {done.returncode}\n{done.stderr}")
                row = Row(done.stdout.splitlines()[0])
                counts[program, cfg] = int(found[1]) / row.ops, int(found[1]) / max(row.rewrites, 1)
        ours = counts.pop(("weft", "default"))
        (_, cfg), best = min(counts.items(), key=lambda item: item[1])
        lines.append([workload, f"{ours[0]:.0f}", f"{ours[1]:.0f}" if row.rewrites else "",
                      f"{counts['mlir', 'default'][0]:.0f}", f"{best[0]:.0f}", cfg, f"{best[0] / ours[0]:.2f}"])
    table(f"Instructions in the driver (callgrind, N = {CALLGRIND_N}; MLIR with C++ patterns)",
          ["workload", "per op", "per rewrite", "MLIR default", "MLIR's best", "", "ratio"], lines)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return f"{names[0]}, {len(names)} CPUs" if names else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--mlir", required=True)
    parser.add_argument("--quick", action="store_true", help="N = 1e5 only, but for memory")
    parser.add_argument("--callgrind", action="store_true", help="instruction counts too; needs valgrind")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    sizes = (100_000,) if args.quick else SIZES
    runner = Runner(args.weft, args.mlir)
    load = os.getloadavg()[0]
    print(f"{datetime.date.today()}, {processor()}, MLIR {runner.mlir_version}, load {load:.1f} at the start, "
          f"median of {args.rounds} interleaved rounds, CPU time of one thread")
    weft = rewriting(runner, sizes, args.rounds)
    scaling(weft, sizes)
    memory(runner, 1_000_000)
    whole_program(runner, sizes, min(args.rounds, 3))
    freezing(runner)
    if args.callgrind:
        instructions(runner)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
