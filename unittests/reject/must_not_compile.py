#!/usr/bin/env python3
"""Checks that a file does not compile, for the reason that its first line names.

  must_not_compile.py FILE.cc COMPILER [FLAG...]

The first line is `// EXPECT: <regex>`, searched in what the compiler prints; of ok.cc it is `// EXPECT: success`. That
file is the others without their fault: it shows that they are refused for the fault and not for a stale header.
A second line `// EXPECT-LINES: 8` bounds how many lines are printed, without those that only say what includes what and
the count of errors at the end.
"""
import re
import subprocess
import sys

path, command = sys.argv[1], sys.argv[2:]
with open(path, encoding="utf-8") as f:
    first, second = f.readline(), f.readline()
expect = re.match(r"// EXPECT: (.+)", first)
if not expect:
    sys.exit(f"{path}: the first line must be `// EXPECT: <regex>`")
run = subprocess.run([*command, "-fsyntax-only", path], capture_output=True, text=True, check=False)
if expect[1] == "success":
    sys.exit(f"{path} does not compile:\n{run.stderr}" if run.returncode else 0)
if run.returncode == 0:
    sys.exit(f"{path} compiles")
if not re.search(expect[1], run.stderr):
    sys.exit(f"{path}: the compiler does not say /{expect[1]}/ but:\n{run.stderr}")
most = re.match(r"// EXPECT-LINES: (\d+)", second)
lines = [line for line in run.stderr.splitlines()
         if not re.match(r"In file included from|\s+from \S+:\d+[:,]$|\d+ (error|warning)s? generated", line)]
if most and len(lines) > int(most[1]):
    sys.exit(f"{path}: the compiler says this in {len(lines)} lines:\n{run.stderr}")
