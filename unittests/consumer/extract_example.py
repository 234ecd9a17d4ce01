#!/usr/bin/env python3
"""Writes the files that a document shows: extract_example.py DOCUMENT.md FOLDER.

A block of code is a file when its first line is a comment that holds nothing but the file's name: `// rule.cc`.
"""
import os
import re
import sys

document, folder = sys.argv[1:]
with open(document, encoding="utf-8") as f:
    files = re.findall(r"^```\w+\n((?:#|//) (\w+\.\w+)\n.*?)^```$", f.read(), re.MULTILINE | re.DOTALL)
if not files:
    sys.exit(f"{document}: no block of code names a file in its first line")
os.makedirs(folder, exist_ok=True)
for text, name in files:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)
    print(os.path.join(folder, name))
