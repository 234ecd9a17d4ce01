#!/usr/bin/env python3
"""What peers' simplifiers leave of small graphs, next to what ir-opt leaves: see README.md.

  compare.py [--ir-opt PROGRAM] [--all] [CASE...]   a table of the cases that miss, totals by peer; exit 1 if one
                                                    misses that met.txt says is met
  compare.py --check                                each rewritten program gives the same numbers, too
  compare.py --bless                                writes met.txt, and the totals into passes/README.md

CASE is a part of a path: `pad_into`, `gallery/`. --all prints the cases that are met as well.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
FOLDERS = ("onnx_optimizer", "onnxscript", "onnx_simplifier", "small", "gallery")
MET = os.path.join(HERE, "met.txt")
README = os.path.join(HERE, "../../../passes/README.md")
MARKS = ("<!-- generated: totals; compare.py --bless -->\n", "<!-- end of totals -->\n")

# A line of a case: `// EXPECT simplify: Relu 1, Add 2`, or KEEP, or `nothing` for no operator; `// NEVER fuse: Gelu`.
WANTED = re.compile(r"^// (EXPECT|KEEP|NEVER) (\w+): (.*)$", re.MULTILINE)
OPERATION = re.compile(r'^( *)\(.*?\) = "([\w.]+)"')

Result = collections.namedtuple("Result", "case pipeline kind wanted ours error disputed")


class Malformed(Exception):
    """A case that does not say what it expects."""


def parse_counts(kind, text, path):
    counts = collections.Counter()
    for entry in text.split(",") if text.strip() != "nothing" else ():
        match = re.fullmatch(r"\s*([\w.]+) (\d+)\s*", entry + (" 0" if kind == "NEVER" else ""))
        if not match:
            raise Malformed(f"{path}: '{entry.strip()}' is not an operator and its count")
        counts[match.group(1)] += int(match.group(2))
    return counts


def operators(program):
    """Of a program as text: each operator's count, those of regions included. A fused op is one node: what lies in
    its region is how it is computed. Constants are none."""
    counts = collections.Counter()
    fused_indent = None
    for line in program.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if fused_indent is not None:
            if indent <= fused_indent:
                fused_indent = None
            continue
        match = OPERATION.match(line)
        if match and not match.group(2).startswith("builtin."):
            counts[match.group(2).removeprefix("onnx.")] += 1
            if match.group(2).startswith("fused.") and line.rstrip().endswith("({"):
                fused_indent = indent
    return counts


def is_met(result):
    """KEEP wants these operators and no others, NEVER none of these. EXPECT is met with fewer nodes as well, and with as
    many others as long as every fused op that is asked for is there, but for a loop over whatever is elementwise."""
    if result.error:
        return False
    if result.kind == "NEVER":
        return not any(result.ours[op] for op in result.wanted)
    if result.ours == result.wanted:
        return True
    if result.kind == "KEEP":
        return False
    ours, wanted = sum(result.ours.values()), sum(result.wanted.values())
    fused = {op: n for op, n in result.wanted.items() if op.startswith("fused.") and op != "fused.elementwise"}
    return ours < wanted or (ours == wanted and all(result.ours[op] == n for op, n in fused.items()))


def find_cases(filters):
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(HERE, folder))):
            case = f"{folder}/{name.removesuffix('.ir')}"
            if name.endswith(".ir") and (not filters or any(f in case for f in filters)):
                yield case


def run(program, case, check):
    path = os.path.join(HERE, case + ".ir")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    disputed = "// DISPUTED:" in text
    wanted = WANTED.findall(text)
    if not wanted:
        raise Malformed(f"{path}: says neither EXPECT nor KEEP")
    results = []
    for kind, pipeline, counts in wanted:
        command = [program, path, "--pipeline", pipeline] + (["--check"] if check else [])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        error = done.stderr.strip().splitlines()[-1:] if done.returncode else []
        results.append(Result(case, pipeline, kind, parse_counts(kind, counts, path), operators(done.stdout),
                              "".join(error) or (f"exit {done.returncode}" if done.returncode else ""), disputed))
    return results


def spell(counts):
    return ", ".join(f"{op} {n}" for op, n in sorted(counts.items())) or "nothing"


def totals(results):
    """Rows of the table in passes/README.md."""
    rows = ["| cases of | pipeline | cases | met | with fewer nodes | with as many others | near misses, kept | disputed |",
            "|---|---|--:|--:|--:|--:|--:|--:|"]
    for folder in FOLDERS:
        for pipeline in ("simplify", "fuse"):
            of = [r for r in results if r.case.startswith(folder + "/") and r.pipeline == pipeline]
            if not of:
                continue
            fewer = [r for r in of if r.kind == "EXPECT" and is_met(r) and sum(r.ours.values()) < sum(r.wanted.values())]
            others = [r for r in of if is_met(r) and r.ours != r.wanted and r.kind == "EXPECT" and r not in fewer]
            keep = [r for r in of if r.kind != "EXPECT"]
            rows.append(f"| {folder} | {pipeline} | {len(of)} | {sum(map(is_met, of))} | {len(fewer)} | {len(others)} | "
                        f"{len(keep)}, {sum(map(is_met, keep))} | {sum(r.disputed for r in of)} |")
    return rows


def read_met():
    if not os.path.exists(MET):
        return set()
    with open(MET, encoding="utf-8") as f:
        return set(f.read().splitlines())


def bless(results):
    with open(MET, "w", encoding="utf-8") as f:
        f.writelines(f"{key(r)}\n" for r in results if is_met(r))
    with open(README, encoding="utf-8") as f:
        before, rest = f.read().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    with open(README, "w", encoding="utf-8") as f:
        f.write(before + MARKS[0] + "\n".join(totals(results)) + "\n" + MARKS[1] + after)


def key(result):
    return f"{result.case} {result.pipeline}"


def print_table(results, everything):
    for r in results:
        if everything or not is_met(r):
            print(f"{'met' if is_met(r) else 'MISSED':6}  {key(r)}\n        {r.kind.lower():6}  {spell(r.wanted)}\n"
                  f"        ours    {r.error or spell(r.ours)}")
    print("\n".join(totals(results)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default=os.path.join(ROOT, "build", "release", "bin", "ir-opt"))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_args()
    if not os.access(args.ir_opt, os.X_OK):
        parser.error(f"there is no program {args.ir_opt}: build ir-opt, or name it with --ir-opt")
    if args.bless and args.cases:
        parser.error("--bless takes no cases: met.txt is about all of them")
    cases = list(find_cases(args.cases))
    if not cases:
        parser.error("no case has such a name")
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = [r for rs in pool.map(lambda case: run(args.ir_opt, case, args.check), cases) for r in rs]
    except Malformed as fault:
        parser.error(str(fault))
    print_table(results, args.all)
    if args.bless:
        bless(results)
        return 0
    known = read_met()
    worse = [r for r in results if key(r) in known and not is_met(r)]
    gone = sorted(known - {key(r) for r in results}) if not args.cases else []
    for r in worse:
        print(f"{key(r)}: was met, is not", file=sys.stderr)
    for name in gone:
        print(f"{name}: is in met.txt, but there is no such case", file=sys.stderr)
    new = [r for r in results if is_met(r) and key(r) not in known]
    if new:
        print(f"{len(new)} more than in met.txt; compare.py --bless keeps them")
    return 1 if worse or gone else 0


if __name__ == "__main__":
    sys.exit(main())
