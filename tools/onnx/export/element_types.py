#!/usr/bin/env python3
"""Writes element_types.tsv: which element types the operators of ai.onnx take and give, by opset.

  tools/onnx/export/element_types.py CHANGELOG > tools/onnx/export/element_types.tsv

CHANGELOG is docs/Changelog.md of an ONNX release. A line has, between tabs, the name, the first opset of which the line
is true (13 for what is older), and a hexadecimal number per input and per output, separated by spaces: bit i stands for
tensors of the type that TensorProto.DataType numbers i. The last number of a variadic list ends with *.
"""
import re
import sys

OLDEST = 13  # that is written
TYPES = {name: i + 1 for i, name in enumerate(
    "float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 bfloat16 "
    "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2".split())}
DOMAIN = re.compile(r"^# (\S+)(?: \(default\))?$")
OPERATOR = re.compile(r'^### <a name="[^"]*"></a>\*\*(\w+)-(\d+)\*\*( \(deprecated\))?</a>$')
SECTION = re.compile(r"^#### ([\w ]+?)(?: \(.*)?$")
ENTRY = re.compile(r"^<dt><tt>([^<]+)</tt>(?: \(([a-z, -]+)\))? : (.+)</dt>$")


def mask(text):
    bits = 0
    for name in re.findall(r"\btensor\((\w+)\)", text):
        bits |= 1 << TYPES[name]
    return bits


def operators(lines):
    """Name, version and three lists of (name, marks, type), in the order of the document."""
    domain = section = current = None
    for line in lines:
        line = line.rstrip("\n")
        if match := DOMAIN.match(line):
            domain, section = match[1], None
        elif domain != "ai.onnx":
            continue
        elif match := OPERATOR.match(line):
            section, current = None, {"Inputs": [], "Outputs": [], "Type Constraints": []}
            yield match[1], int(match[2]), current
        elif match := SECTION.match(line):
            section = match[1]
        elif current is not None and section in current and (match := ENTRY.match(line)):
            current[section].append(match.groups(default=""))


def row(sections):
    constraints = {name: mask(text) for name, _, text in sections["Type Constraints"]}

    def slots(section):
        return " ".join(f"{constraints[kind] if kind in constraints else mask(kind):x}" + "*" * ("variadic" in marks)
                        for _, marks, kind in sections[section])
    return slots("Inputs"), slots("Outputs")


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__.strip())
    with open(arguments[0], encoding="utf-8") as f:
        versions = sorted(list(operators(f)), key=lambda entry: entry[:2])
    if not versions:
        sys.exit(f"{arguments[0]}: no operator of ai.onnx")
    table = {}  # by name and opset; of those older than OLDEST the last one stays
    for name, version, sections in versions:
        table[name, max(version, OLDEST)] = row(sections)
    last = None
    for (name, version), types in table.items():
        if last != (name, types):
            print(name, version, *types, sep="\t")
        last = (name, types)


main(sys.argv[1:])
