"""What is shown: progress on a terminal and in a notebook, tables of models and results."""
import os
import pty
import re
import sys
import types
import unittest
from html.parser import HTMLParser
from unittest import mock

import weft

from models import BERT, RELUS


class Terminal:
    """A pseudo-terminal in place of stderr; `text` is what came."""

    def __enter__(self):
        self._reader, writer = pty.openpty()
        self._file = os.fdopen(writer, "w")
        self._patch = mock.patch.object(sys, "stderr", self._file)
        self._patch.__enter__()
        return self

    def __exit__(self, *error):
        self._patch.__exit__(*error)
        os.set_blocking(self._reader, False)
        self.text = ""
        try:
            while True:
                self.text += os.read(self._reader, 1 << 16).decode()
        except BlockingIOError:
            pass
        self._file.close()
        os.close(self._reader)


class ProgressTest(unittest.TestCase):
    def test_is_a_line_on_a_terminal_that_is_rewritten_and_goes(self):
        with Terminal() as terminal:
            weft.optimize(BERT, "simplify", progress=True)
        self.assertNotIn("\n", terminal.text)
        shown = terminal.text.split("\r")
        self.assertRegex(shown[1], r"^\[\.{20}\] 1/\d+ [\w-]+, 170 operations$")
        self.assertGreater(len(shown), 3)
        self.assertRegex(shown[-2], "^ +$")
        self.assertEqual(shown[-1], "")

    def test_goes_after_an_error_too(self):
        def stop():
            return True
        with Terminal() as terminal:
            with self.assertRaises(weft.CancelledError):
                weft.optimize(BERT, progress=True, stop=stop)
        self.assertTrue(terminal.text == "" or terminal.text.endswith("\r"))

    def test_is_silent_where_nobody_looks(self):
        with mock.patch.object(sys, "stderr", open(os.devnull, "w", encoding="utf-8")) as stderr:
            with mock.patch.object(stderr, "write") as write:
                weft.optimize(BERT, progress=True)
            write.assert_not_called()
            stderr.close()

    def test_is_text_in_a_notebook(self):
        shown = []
        handle = types.SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

        def display(data, raw, display_id):
            shown.append(data["text/plain"])
            return handle
        ipython = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=object()),
                                        display=types.SimpleNamespace(display=display))
        with mock.patch.dict(sys.modules, IPython=ipython):
            weft.optimize(BERT, progress=True)
        self.assertRegex(shown[0], r"^\[\.{20}\] 1/")
        self.assertEqual(shown[-1], "done")
        self.assertGreater(len(shown), 3)


class Tables(HTMLParser):
    """Rows of cells; every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.rows, self._open = [], []
        self.feed(text)
        assert not self._open, self._open

    def handle_starttag(self, tag, attrs):
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, tag

    def handle_data(self, data):
        if self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


class HtmlTest(unittest.TestCase):
    def test_of_a_model_has_its_values_and_operators(self):
        rows = Tables(weft.Model.from_text(RELUS)._repr_html_()).rows
        for row in (["input", "x", 'tensor<"N"x3xf32>'], ["output", "y", 'tensor<"N"x3xf32>'], ["onnx.Relu", "2"]):
            self.assertIn(row, rows)
        model = weft.Model.load(BERT)
        counts = {row[0]: int(row[1]) for row in Tables(model._repr_html_()).rows if re.match(r"\w+\.\w+$", row[0])}
        self.assertEqual(sum(counts.values()), model.num_operations)

    def test_of_a_result_has_counts_and_rules(self):
        result = weft.optimize(BERT, "fuse", check=1)
        rows = Tables(result._repr_html_()).rows
        self.assertIn(["onnx.Erf", "2", "0"], rows)
        self.assertIn(["fuse-erf-gelu", "fuse-composite", "2", "10 → 2"], rows)
        self.assertIn(result.report["outputs"][0]["verdict"], [row[-1] for row in rows])
        sizes = {row[0]: row[1:] for row in rows}
        self.assertEqual(sizes["operations"], [str(result.ops_before), str(result.ops_after)])
        self.assertEqual(sizes["FLOPs of a run"][0], f"{result.size_before['flops']:,.0f}")
        first = result.rewrites[0]
        self.assertIn(["1", first["rule"], first["site"], ", ".join(first["removed"]), ", ".join(first["added"])], rows)
        without = weft.optimize(BERT, "fuse", record_rewrites=False)
        self.assertIn("</table></details></div>", result._repr_html_())
        self.assertNotIn("<details>", without._repr_html_())
        self.assertIn(["bytes of the arena", "unknown", "unknown"],
                      Tables(weft.optimize(weft.Model.from_text(RELUS))._repr_html_()).rows)

    def test_of_a_session_has_its_values_and_what_it_runs_with(self):
        model = weft.Model.from_text(RELUS.replace('strings["x"]', 'strings["<x>"]'))
        session = weft.Session(model, threads=1, isa="portable")
        self.assertEqual((session.threads, session.isa), (1, "portable"))
        text = session._repr_html_()
        self.assertIn("weft.Session: 1 thread, portable", text)
        self.assertEqual(Tables(text).rows, [["", "name", "type"], ["input", "<x>", 'tensor<"N"x3xf32>'],
                                             ["output", "y", 'tensor<"N"x3xf32>']])
        several = weft.Session(model, threads=3, oversubscribe=True)
        self.assertIn(f"weft.Session: 3 threads, {several.isa}", several._repr_html_())
        self.assertIn(several.isa, ("portable", "avx2", "avx512", "amx"))

    def test_is_escaped(self):
        model = weft.Model.from_text(RELUS.replace('strings["x"]', 'strings["<script>alert(1)</script>&"]'))
        self.assertNotIn("<script>", model._repr_html_())
        self.assertIn(["input", "<script>alert(1)</script>&", 'tensor<"N"x3xf32>'], Tables(model._repr_html_()).rows)


if __name__ == "__main__":
    unittest.main()
