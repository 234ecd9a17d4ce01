#!/usr/bin/env python3
"""Is what ir-opt writes of ONNX's own tests valid for onnx.checker, shapes included?

  unittests/conformance/check_exports.py [--bin DIR] [--pipelines A,B] [--filter REGEX] [FOLDER...]

FOLDER holds TEST/model.onnx; without one, the suites of Debian's libonnx-testdata. Needs /usr/bin/python3 with Debian's
python3-onnx, which knows opsets up to 17 (Debian 12) or 22 (Debian 13): models of later ones are counted and left out, as
are those that the checker refuses as they come, and those that ir-opt does not support (exit 3). Prints every file that
is not valid, then the counts; exit 1 when there is one.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN = pathlib.Path("/usr/share/libonnx-testdata/data")
SUITES = ("node", "pytorch-converted", "pytorch-operator", "simple")
UNSUPPORTED = 3

try:
    import numpy

    # onnx 1.12 names types that numpy 1.24 no longer has.
    for name, kind in (("object", object), ("bool", bool), ("float", float), ("int", int)):
        if name not in vars(numpy):
            setattr(numpy, name, kind)
    import onnx
    import onnx.checker
    import onnx.defs
except ImportError as error:
    sys.exit(f"check_exports: {error}; install python3-onnx and run with /usr/bin/python3")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="*", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", metavar="DIR")
    parser.add_argument("--pipelines", default="simplify,fuse", metavar="A,B")
    parser.add_argument("--filter", type=re.compile, default=re.compile("."), metavar="REGEX")
    return parser.parse_args()


def complaint(path):
    """Empty for a valid model. The checker crashes on some models, so it runs in a child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            onnx.checker.check_model(str(path), full_check=True)
        except Exception as problem:  # the checker's own, protobuf's, numpy's
            os.write(writer, (str(problem).strip() or type(problem).__name__).encode()[:2000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return said if os.WIFEXITED(status) else f"the checker crashed, signal {os.WTERMSIG(status)}"


def too_new(path):
    opsets = {entry.domain: entry.version for entry in onnx.load(str(path), load_external_data=False).opset_import}
    return opsets.get("", 1) > onnx.defs.onnx_opset_version()


def main():
    arguments = parse_arguments()
    folders = arguments.folders or [DEBIAN / suite for suite in SUITES]
    counts = collections.Counter()
    invalid = 0
    with tempfile.TemporaryDirectory() as scratch:
        written = pathlib.Path(scratch) / "out.onnx"
        for model in sorted(model for folder in folders for model in folder.glob("*/model.onnx")):
            test = model.parent.name
            if not arguments.filter.search(test):
                continue
            if too_new(model):
                counts["original of a later opset than the checker knows"] += 1
                continue
            if complaint(model):
                counts["original refused by the checker"] += 1
                continue
            for pipeline in arguments.pipelines.split(","):
                written.unlink(missing_ok=True)
                result = subprocess.run([arguments.bin / "ir-opt", model, "-o", written, "--pipeline", pipeline],
                                        capture_output=True, text=True, check=False)
                if result.returncode == UNSUPPORTED:
                    counts[f"{pipeline}: unsupported by ir-opt"] += 1
                    continue
                why = result.stderr.strip() if result.returncode else complaint(written)
                counts[f"{pipeline}: {'INVALID' if why else 'valid'}"] += 1
                if why:
                    invalid += 1
                    print(f"{test}, {pipeline}: {why.splitlines()[0][:300]}", flush=True)
    for key, count in sorted(counts.items()):
        print(f"{key}: {count}")
    sys.exit(1 if invalid else 0)


if __name__ == "__main__":
    main()
