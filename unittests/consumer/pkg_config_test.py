#!/usr/bin/env python3
"""Compiles a program with what pkg-config says of a component of the installed Weft, and runs it:

  pkg_config_test.py COMPONENT PREFIX LIBDIR WORK [--pkg-config P] [--cxx C++] [--cc C]

COMPONENT is the name of a .pc file; `each`: all that are installed; `known`: none, but all have a program below."""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "tools/examples"
BERT = ROOT / "unittests/models/bert_tiny.onnx"
OWN = HERE / "gain_kernel.cc"

# component: sources, what is linked before it (weft-tools comes first, always), arguments of the program, what it prints
PROGRAMS = {
    "weft": ([HERE / "pkg_config/version.c"], [], ["VERSION"], ""),
    "weft-ir": ([HERE / "pkg_config/ir.cc"], [], [], ""),
    "weft-drr": ([HERE / "pkg_config/drr.cc"], [], [], ""),
    "weft-passes": ([HERE / "pkg_config/passes.cc"], [], [], ""),
    "weft-kernels": ([HERE / "pkg_config/kernels.cc", OWN], [], [], ""),
    "weft-onnx": ([HERE / "pkg_config/onnx.cc"], [], [BERT], ""),
    "weft-cxx": ([EXAMPLES / "run.cc"], [], [BERT], "elements, the first is"),
    "weft-tools": ([EXAMPLES / "own_ir_opt.cc"], [], [EXAMPLES / "sqrt.ir", "--stats"], "drop-relu-of-sqrt"),
    "weft-z3": ([EXAMPLES / "own_ir_opt.cc"], ["weft-tools"], ["--verify-rules", "drop-relu-of-sqrt"], "proved"),
    "weft-fixtures": ([HERE / "merge_gains_test.cc", OWN], ["gtest_main"], [], "[  PASSED  ]"),
    "weft-plugin": ([EXAMPLES / "plugin.cc"], [], None, "drop-unit-gain"),  # ir-opt loads it
}
# Programs besides.
MORE = {"weft-cxx": ([HERE / "pkg_config/register_all.cc"], [], [], "all: ")}
# Of which a linker takes all without being told.
ONE_OBJECT = ("weft_passes", "weft_kernels")


class Consumer:
    def __init__(self, options):
        self.prefix = pathlib.Path(options.prefix)
        self.library = self.prefix / options.libdir
        self.work = pathlib.Path(options.work)
        self.options = options
        self.environment = dict(os.environ, PKG_CONFIG_PATH=str(self.library / "pkgconfig"),
                                LD_LIBRARY_PATH=str(self.library))

    def run(self, *command):
        done = subprocess.run([str(word) for word in command], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            end = "\n".join(line[:300] for line in done.stdout.splitlines()[-25:])
            sys.exit(f"{shlex.join(map(str, command))}: exit code {done.returncode}\n{end}")
        return done.stdout

    def pkg_config(self, *words):
        return shlex.split(self.run(self.options.pkg_config, *words))

    def check(self, component, what):
        sources, besides, arguments, expected = what
        modules = [*besides, component]
        program = self.work / component
        compiler = [*self.options.cc.split(), "-std=c11", "-Wall", "-Wextra", "-Werror"]
        if sources[0].suffix == ".cc":
            compiler = [*self.options.cxx.split(), f'-DGAIN_GOLDEN_DIR="{HERE}/golden"', f"-I{HERE}", "-O0"]
        shared = ["-shared", "-fPIC"] if arguments is None else []
        for flag in self.pkg_config("--libs", *modules):
            if "whole-archive" in flag and any(name in flag for name in ONE_OBJECT):
                sys.exit(f"{component}: is linked with {flag}")
        self.run(*compiler, *shared, *self.pkg_config("--cflags", *modules), *sources, "-o", program,
                 *self.pkg_config("--libs", *modules))
        if arguments is None:
            said = self.run(self.prefix / "bin/ir-opt", EXAMPLES / "gains.ir", "--load", program, "--stats")
        else:
            version = self.pkg_config("--modversion", component)
            said = self.run(program, *(version[0] if word == "VERSION" else word for word in arguments))
        if expected not in said:
            sys.exit(f"{component}: no “{expected}” in\n{said}")
        print(f"{component}: {self.run(self.options.pkg_config, '--modversion', component).strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("component", "prefix", "libdir", "work"):
        parser.add_argument(name)
    parser.add_argument("--pkg-config", default="pkg-config")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    consumer = Consumer(options)
    consumer.work.mkdir(parents=True, exist_ok=True)
    installed = {path.stem for path in (consumer.library / "pkgconfig").glob("weft*.pc")}
    if not installed or installed - PROGRAMS.keys():
        sys.exit(f"installed: {installed}, without a program: {installed - PROGRAMS.keys()}")
    if options.component != "known":
        for component in sorted(installed) if options.component == "each" else [options.component]:
            consumer.check(component, PROGRAMS[component])
            if component in MORE:
                consumer.check(component, MORE[component])


main()
