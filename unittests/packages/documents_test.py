#!/usr/bin/env python3
"""Checks what ir-opt and ir-run print for packages: documents_test.py IR_OPT IR_RUN

Every flag that a program takes is in its manual page and in its completions, which do complete (in bash; in zsh and fish
where these are installed); the page has no mistake in the eyes of groff, where that is installed."""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

IR_OPT, IR_RUN = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, timeout=60, **options)


def generate(program, kind):
    done = run(program, "--generate", kind)
    if done.returncode != 0:
        raise AssertionError(done.stdout)
    return done.stdout


def flags_of(program):
    """Those of its help, and those of ir-opt's which it does not call unknown."""
    flags = set(FLAG.findall(run(program, "--help").stdout))
    for flag in FLAG.findall(run(IR_OPT, "--help").stdout):
        if f"unknown option '{flag}'" not in run(program, flag, "--no-such-flag").stdout:
            flags.add(flag)
    return flags


class Documents(unittest.TestCase):
    def test_each_flag_is_in_each(self):
        for program, least in ((IR_OPT, 50), (IR_RUN, 40)):
            flags = flags_of(program)
            self.assertGreater(len(flags), least)
            for kind in ("man", "bash", "zsh", "fish"):
                text = generate(program, kind).replace("\\-", "-").replace("\\fB", " ")
                if kind == "fish":
                    text = re.sub(r" -l (?=[a-z])", " --", text)
                self.assertEqual(flags - set(FLAG.findall(text)), set(), f"missing in {kind} of {program.name}")
                self.assertNotIn("--generate", text)

    def test_other_kinds_are_refused_in_one_line(self):
        done = run(IR_OPT, "--generate", "html")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_finds_no_fault_in_the_page(self):
        for program in (IR_OPT, IR_RUN):
            page = generate(program, "man")
            done = run("groff", "-man", "-ww", "-z", input=page)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            shown = run("groff", "-man", "-Tascii", "-P-cbou", "-rLL=200n", input=page).stdout
            self.assertRegex(shown, r"--pipeline P")
            self.assertRegex(shown, r"exit: 0 done")


class Completion(unittest.TestCase):
    """What each shell offers for a line that ends where the cursor is."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, kind, program=IR_OPT):
        path = self.folder / f"{program.name}.{kind}"
        path.write_text(generate(program, kind), encoding="utf-8")
        return path

    def in_bash(self, *words, program=IR_OPT):
        done = run("bash", "-c", f"source {self.script('bash', program)}; COMP_WORDS=({shlex.join([str(program), *words])}); "
                   f"COMP_CWORD={len(words)}; compopt() {{ :; }}; _{program.name.replace('-', '_')}; "
                   "printf '%s\\n' \"${COMPREPLY[@]}\"")
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout.split()

    def check_all(self, offers):
        self.assertEqual(offers("--pipel"), ["--pipeline"])
        self.assertEqual(offers("--pipeline", "sup"), ["superopt"])
        self.assertIn("fuse-erf-gelu", offers("--enable-rule", "fuse-er"))
        self.assertIn("fuse-attention", offers("--explain", "fuse-att"))
        self.assertEqual(offers("--print-ir-after", "dead-code"), ["dead-code-elimination"])

    def test_bash(self):
        self.check_all(self.in_bash)
        self.assertEqual(self.in_bash("--numerics", "=", "ex"), ["exact"])
        self.assertEqual(self.in_bash("--numerics", "="), ["exact", "reassociates", "approximate", "changes-meaning"])
        self.assertEqual(self.in_bash("model.onnx", "--export", "or"), ["ort"])
        self.assertEqual(self.in_bash("--search-cost", ""), ["measured", "analytic"])
        self.assertEqual(self.in_bash("--search-alpha", ""), [])
        self.assertEqual(self.in_bash("--nothing-like-this"), [])
        self.assertEqual(self.in_bash("--isa", "avx5", program=IR_RUN), ["avx512"])
        self.assertEqual(self.in_bash("--provider", "ref", program=IR_RUN), ["reference"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        script = self.script("fish")

        def offers(*words):
            done = run("fish", "--no-config", "-c",
                       f"set -x PATH {IR_OPT.parent} $PATH; source {script}; complete -C '{shlex.join(['ir-opt', *words])}'",
                       env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "TERM": "dumb"})
            return [line.split("\t")[0] for line in done.stdout.splitlines()]
        self.check_all(offers)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_its_script(self):
        for program in (IR_OPT, IR_RUN):
            done = run("zsh", "-n", self.script("zsh", program))
            self.assertEqual((done.returncode, done.stdout), (0, ""))


unittest.main(argv=sys.argv[:1])
