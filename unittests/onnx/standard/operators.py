#!/usr/bin/env python3
"""Writes operators.tsv: the signature of every version of every operator of ai.onnx.

  unittests/onnx/standard/operators.py CHANGELOG OPERATORS > unittests/onnx/standard/operators.tsv

CHANGELOG and OPERATORS are docs/Changelog.md and docs/Operators.md of an ONNX release. A line of the table has, between
tabs, the name, the first opset with this version, "deprecated", "function" (the newest version of an operator that the
standard defines by others) or nothing, then separated by spaces the inputs and the outputs (x, x? optional, x* variadic)
and the attributes (a:type, then =default, ! required or ? optional).
"""
import re
import sys

DOMAIN = re.compile(r"^# (\S+)(?: \(default\))?$")
OPERATOR = re.compile(r'^### <a name="[^"]*"></a>\*\*(\w+)-(\d+)\*\*( \(deprecated\))?</a>$')
FUNCTIONS = "|**Function**|"
FUNCTION = re.compile(r'^\|<a href="#\w+">(\w+)</a>\|')
SECTION = re.compile(r"^#### (\w+)")
PARAMETER = re.compile(r"^<dt><tt>([^<]+)</tt>(?: \(([a-z, -]+)\))? : .+</dt>$")
ATTRIBUTE = re.compile(r"^<dt><tt>([^<]+)</tt> : (list of )?(\w+?)(s?)(?: \((required|default is (.*))\))?</dt>$")


def parameter(line):
    name, marks = PARAMETER.match(line).groups(default="")
    suffix = "?" if "optional" in marks else "*" if "variadic" in marks else ""
    return name.strip() + suffix


def attribute(line):
    name, is_list, kind, plural, mark, default = ATTRIBUTE.match(line).groups()
    if bool(is_list) != bool(plural):
        raise ValueError(f"neither one value nor a list: {line}")
    if kind == "float" and default is not None and not is_list:
        default = f"{float(default.strip('()')):.7g}"  # 1.0 is 1
    suffix = "!" if mark == "required" else "?" if default is None else "=" + default.replace(" ", "")
    return f"{name}:{kind}{plural}{suffix}"


def operators(lines):
    """Name, version, mark and the items of the three sections, in the order of the document."""
    domain = section = None
    for line in lines:
        line = line.rstrip("\n")
        if match := DOMAIN.match(line):
            domain, section = match[1], None
        elif domain != "ai.onnx":
            continue
        elif match := OPERATOR.match(line):
            section = None
            current = {"Inputs": [], "Outputs": [], "Attributes": []}
            yield match[1], int(match[2]), (match[3] or "").strip(" ()"), current
        elif match := SECTION.match(line):
            section = match[1]
        elif section in ("Inputs", "Outputs", "Attributes") and line.startswith("<dt>"):
            current[section].append(attribute(line) if section == "Attributes" else parameter(line))


def functions(lines):
    """The names in the first table of functions, which is that of ai.onnx."""
    inside = False
    for line in lines:
        if line.startswith(FUNCTIONS):
            inside = True
        elif inside and not line.startswith("|"):
            return
        elif inside and (match := FUNCTION.match(line)):
            yield match[1]


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    with open(arguments[0], encoding="utf-8") as f:
        table = sorted(operators(f), key=lambda row: row[:2])
    if not table:
        sys.exit(f"{arguments[0]}: no operator of ai.onnx")
    with open(arguments[1], encoding="utf-8") as f:
        defined_by_others = set(functions(f))
    if not defined_by_others:
        sys.exit(f"{arguments[1]}: no function of ai.onnx")
    newest = {name: version for name, version, _, _ in table}
    for name, version, mark, sections in table:
        if name in defined_by_others and version == newest[name]:
            mark = "function"
        items = (" ".join(sections[s]) for s in ("Inputs", "Outputs", "Attributes"))
        print(name, version, mark, *items, sep="\t")


main(sys.argv[1:])
