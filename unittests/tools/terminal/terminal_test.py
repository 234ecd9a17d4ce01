#!/usr/bin/env python3
"""Runs the programs at a terminal of so many columns: terminal_test.py IR_OPT IR_RUN

At a pipe they print neither colours nor lines that are written over, which the other tests of the programs see."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

IR_OPT, IR_RUN = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
BERT = str(MODELS / "bert_tiny.onnx")
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def run(columns, *command, **environment):
    """What the terminal is sent, with stdout and stderr in it."""
    terminal, programs_end = pty.openpty()
    fcntl.ioctl(programs_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    variables.update({"TERM": "xterm", "XDG_CACHE_HOME": "/dev/null", **environment})
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=programs_end,
                          stderr=programs_end, env=variables) as process:
        os.close(programs_end)
        said = b""
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # nobody writes to it any more
                part = b""
            if not part:
                break
            said += part
    os.close(terminal)
    return said.decode().replace("\r\n", "\n")


class TerminalTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def assert_fits(self, columns, said):
        for line in STYLE.sub("", said).splitlines():
            self.assertLessEqual(len(line), columns, line)

    def test_tables_fit(self):
        commands = [
            [IR_OPT, BERT, "--pipeline", "fuse", "-o", self.path("a.onnx"), "--stats=all", "--timing"],
            [IR_OPT, "--list-rules"], [IR_OPT, "--list-ops"], [IR_OPT, "--list-passes"],
            [IR_OPT, "--list-constraints"], [IR_OPT, "--help"], [IR_RUN, "--help"],
            [IR_OPT, "--verify-rules", "drop-unit-factor"],
            [IR_RUN, BERT, "--random-inputs", "1", "--threads", "1", "--bench", "--profile"],
        ]
        for columns in (120, 80, 60, 40):
            for command in commands:
                with self.subTest(columns=columns, command=command[1:]):
                    said = run(columns, *command)
                    self.assert_fits(columns, said)
                    self.assertGreater(said.count("\n"), 1)

    def test_cells_go_on_below_themselves(self):
        said = STYLE.sub("", run(100, IR_OPT, "--list-passes"))
        head = said.splitlines()[0]
        self.assertEqual(re.split(r" {2,}", head), ["pass", "what it does"])
        column = head.index("what")
        more = [line for line in said.splitlines()[1:] if line.startswith(" " * column) and line[column] != " "]
        self.assertTrue(more, said)

    def test_columns_of_the_environment_come_first(self):
        self.assert_fits(70, run(200, IR_OPT, "--list-ops", COLUMNS="70"))
        said = run(90, IR_OPT, "--list-ops", COLUMNS="many")
        self.assert_fits(90, said)

    def test_a_narrow_table_has_a_line_for_each_cell(self):
        lines = STYLE.sub("", run(30, IR_OPT, BERT, "--pipeline", "fuse", "-o", self.path("a.onnx"), "--stats"))
        self.assertIn("rule: fuse-attention\n", lines)
        self.assertRegex(lines, r"\n  applied: 2\n")

    def test_colours(self):
        error = [IR_OPT, "--pipelin"]
        self.assertIn("\x1b[1;31merror:\x1b[0m unknown option", run(80, *error))
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertIn("ir-opt: error: unknown option", run(80, *error, **environment))
        self.assertIn("\x1b[1;31merror:", run(80, *error, NO_COLOR=""))  # empty: not set, says no-color.org
        lines = run(200, IR_OPT, MODELS / "unit_factor.ir", "--print-rewrites=diff", "-o", self.path("a.ir"))
        self.assertRegex(lines, r"\n  \x1b\[1;31m- ?\(%")

    def test_a_batch_tells_how_far_it_is(self):
        bad = self.path("bad.ir")
        pathlib.Path(bad).write_text("no model", encoding="utf-8")
        said = run(80, IR_OPT, BERT, MODELS / "unit_factor.ir", bad, "--output-dir", self.path("out"))
        shown = re.findall(r"(\d of 3 models done[^\r]*)\r\x1b\[K", said)
        self.assertEqual([text[0] for text in shown], list("0123"), said)
        self.assertRegex(shown[1], r"^1 of 3 models done, \d+:\d\d left$")
        self.assertEqual(shown[3], "3 of 3 models done, 1 failed")
        end = said[said.rindex("\x1b[K"):]
        self.assertRegex(end, r"model +operations +after +seconds +error")
        self.assertRegex(end, r"\x1b\[1;31m[^\x1b]*bad\.ir")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
