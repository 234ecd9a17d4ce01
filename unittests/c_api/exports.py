#!/usr/bin/env python3
"""Checks what libweft.so exports: exports.py NM READELF LIBRARY HEADER...

Exactly the functions that the headers declare, each under a version, and nothing else; its SONAME is libweft.so.0."""
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(nm, readelf, library, *headers):
    declared = set()
    for header in headers:
        with open(header, encoding="utf-8") as f:
            declared.update(re.findall(r"^WEFT_API\b[^(;]*?\b(\w+)\(", f.read(), re.MULTILINE))
    exported, faults = set(), []
    for line in run(nm, "-D", "--defined-only", library).splitlines():
        kind, symbol = line.split()[-2:]
        name, _, version = symbol.partition("@@")
        if kind == "A" and re.fullmatch(r"(WEFT_\d+\.\d+)(@@\1|@*)", symbol):
            continue  # the version itself, as GNU or LLVM has it
        exported.add(name)
        if kind != "T" or not version.startswith("WEFT_"):
            faults.append(f"{symbol}: of kind {kind}, without a version of ours")
    faults += [f"{name}: is exported, but not declared" for name in sorted(exported - declared)]
    faults += [f"{name}: is declared, but not exported" for name in sorted(declared - exported)]
    if len(declared) < 30:
        faults.append(f"only {len(declared)} functions found in {headers}")
    if "soname: [libweft.so.0]" not in run(readelf, "--dynamic", "--wide", library):
        faults.append("the SONAME is not libweft.so.0")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
