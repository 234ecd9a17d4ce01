"""The module as a whole: beside onnx in a process, and its types."""
import ast
import importlib.util
import inspect
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import weft

from models import BERT, RELUS


class ImportTest(unittest.TestCase):
    def test_lives_with_onnx_in_either_order(self):
        work = f"import sys; m = onnx.load({BERT!r}); r = weft.optimize(m, 'fuse'); onnx.checker.check_model(m); " \
               "onnx.shape_inference.infer_shapes(r.model.to_onnx()); print(r.ops_after < r.ops_before)"
        for modules in ("onnx, weft", "weft, onnx"):
            done = subprocess.run([sys.executable, "-c", f"import {modules}; {work}"], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)

    def test_does_not_need_onnx(self):
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.modules['onnx'] = None; import weft; weft.optimize({BERT!r})"],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_says_what_it_cannot_load(self):
        done = subprocess.run([sys.executable, "-c", "import weft"], capture_output=True, text=True, check=False,
                              env={"WEFT_LIBRARY": "/no/libweft.so", "PYTHONPATH": ":".join(sys.path)})
        self.assertIn("ImportError: weft: cannot load /no/libweft.so", done.stderr)


THREAD = f"""
import threading, time
import numpy as np, weft
model = weft.Model.from_text({RELUS!r})
session, x = weft.Session(model, threads=1), np.ones((2, 3), np.float32)
begun = threading.Event()
def work():
    while True:
        session.run({{"x": x}}, stop=lambda: begun.set())
threading.Thread(target=work, daemon=True).start()
begun.wait()
"""
CHILD = f"""
import os
import numpy as np, weft
model = weft.Model.from_text({RELUS!r})
session, x = weft.Session(model, threads=2), np.ones((2, 3), np.float32)
session.run({{"x": x}})
child = os.fork()
session = weft.Session(model, threads=2)
session.run({{"x": x}})
if child:
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class EndTest(unittest.TestCase):
    def run_python(self, script):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_ends_while_a_daemon_thread_is_asked_whether_to_stop(self):
        for _ in range(3):
            self.run_python(THREAD)

    def test_a_forked_process_drops_sessions_of_its_parent(self):
        self.run_python(CHILD)


class SetupTest(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("setuptools"), "no setuptools")
    def test_says_in_a_line_that_it_belongs_into_the_tree(self):
        setup = pathlib.Path(__file__).parents[2] / "tools" / "python" / "setup.py"
        with tempfile.TemporaryDirectory() as folder:
            for below in (".", "tools/python"):
                outside = pathlib.Path(folder).resolve() / below
                outside.mkdir(parents=True, exist_ok=True)
                shutil.copy(setup, outside)
                done = subprocess.run([sys.executable, "setup.py", "--version"], cwd=outside, capture_output=True,
                                      text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"^weft: {outside} must be tools/python of Weft's tree, .*\n$")


# What the types of a rule's function stand for.
PRIVATE = {"_Value": weft._values.Value, "_Source": weft._rules.Source, "_Replacement": weft._rules.Result}

OPTIONS = inspect.signature(weft._options.Options).parameters


class StubTest(unittest.TestCase):
    """weft/__init__.pyi says what the module has."""

    def setUp(self):
        path = pathlib.Path(weft.__file__).with_suffix(".pyi")
        self.tree = ast.parse(path.read_text(encoding="utf-8"))

    def test_names_what_is_there(self):
        named = {node.name for node in self.tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))
                 and not node.name.startswith("_")}
        self.assertEqual(named, set(weft.__all__))
        for name in named:
            self.assertTrue(inspect.getdoc(getattr(weft, name)), name)

    def test_has_the_parameters_that_are_there(self):
        compared = 0
        for node in self.tree.body:
            members = [node] if isinstance(node, ast.FunctionDef) else getattr(node, "body", [])
            for function in members:
                if isinstance(function, ast.FunctionDef):
                    owner = weft if function is node else PRIVATE.get(node.name) or getattr(weft, node.name)
                    compared += self.compare(function, inspect.getattr_static(owner, function.name))
        self.assertGreater(compared, 10)

    def compare(self, stub, there):
        there = getattr(there, "__func__", there)
        if isinstance(there, property):
            self.assertEqual([d.id for d in stub.decorator_list], ["property"], stub.name)
            return 1
        parameters = inspect.signature(there).parameters.values()
        if stub.args.kwarg:  # the options of optimize
            parameters = [p for p in parameters if p.name == "pipeline" or p.name not in OPTIONS]
        self.assertNotIn(inspect.Parameter.VAR_KEYWORD, [p.kind for p in parameters], stub.name)
        named = [p.name for p in parameters if p.kind != p.VAR_POSITIONAL]
        self.assertEqual([a.arg for a in stub.args.args + stub.args.kwonlyargs], named, stub.name)
        self.assertEqual([stub.args.vararg.arg] if stub.args.vararg else [],
                         [p.name for p in parameters if p.kind == p.VAR_POSITIONAL], stub.name)
        self.assertEqual([a.arg for a in stub.args.kwonlyargs],
                         [p.name for p in parameters if p.kind == p.KEYWORD_ONLY], stub.name)
        return 1

    def test_has_help_for_all_of_it(self):
        seen = 0
        for node in self.tree.body:
            for function in getattr(node, "body", []) if isinstance(node, ast.ClassDef) else []:
                if isinstance(function, ast.FunctionDef) and not function.name.startswith("_"):
                    owner = PRIVATE.get(node.name) or getattr(weft, node.name)
                    there = inspect.getattr_static(owner, function.name)
                    self.assertTrue((there.__doc__ or there.__func__.__doc__ or "").strip(), f"{owner}.{function.name}")
                    seen += 1
        self.assertGreater(seen, 40)


class OptionsTest(unittest.TestCase):
    def test_names_every_option_with_its_default(self):
        for function in (weft.optimize, weft.Model.optimize, weft.explain, weft.Model.explain):
            takes = inspect.signature(function).parameters
            lines = function.__doc__.splitlines()
            for name, option in OPTIONS.items():
                self.assertEqual(takes[name].default, option.default)
                self.assertEqual(sum(line.split(" ")[0] == name for line in lines), 1, name)
            self.assertLess(max(map(len, lines)), 121)
        self.assertEqual(list(inspect.signature(weft.explain).parameters)[:5],
                         ["model", "rule", "pipeline", "at", "passes"])

    def test_are_refused_in_the_name_of_the_function(self):
        model = weft.Model.from_text(RELUS)
        for function, call in (
                ("optimize", lambda **options: weft.optimize(model, **options)),
                ("Model.optimize", model.optimize),
                ("explain", lambda **options: weft.explain(model, "drop-identity", **options)),
                ("Model.explain", lambda **options: model.explain("drop-identity", **options))):
            for wrong, hint in (("numeric", "; did you mean 'numerics'?"), ("bogus", "")):
                expected = f"{function}() got an unexpected keyword argument '{wrong}'{hint}"
                with self.assertRaises(TypeError) as caught:
                    call(**{wrong: "exact"})
                self.assertEqual(str(caught.exception), expected)

    def test_are_refused_by_what_they_may_be(self):
        for options, text in (
                ({"rules": [3]}, "rules are files, or made by @weft.rule or weft.rules_from_text, found int"),
                ({"rules": 3}, "rules are files, or made by @weft.rule or weft.rules_from_text, found int"),
                ({"rules": ["a.weft", lambda src, res: None]}, "rules are files, .*, found function"),
                ({"passes": [None]}, "passes are names, found NoneType"),
                ({"disable_rules": 5}, "disable_rules are names, found int"),
                ({"pipeline": 3}, "pipeline is a name or None, found int"),
                ({"dims": ["N"]}, "dims are {name: size}, found list"),
                ({"dims": {"N": "4"}}, "the size of dimension 'N' is a number, found str"),
                ({"input_shapes": {"x": [3, None]}}, "the shape of input 'x' is a list of numbers, found NoneType"),
                ({"check": "3"}, "check is a number, found str"),
                ({"check_tolerance": "3"}, "check_tolerance is a number or None, found str"),
                ({"progress": 3}, "progress is a function, True or None, found int"),
                ({"stop": True}, "stop is a function or None, found bool")):
            with self.assertRaisesRegex(TypeError, f"^{text}$"):
                weft.optimize(BERT, **options)
        with self.assertRaisesRegex(TypeError, "^a rule is a file, .*, found int$"):
            weft.judge(3)

    def test_are_refused_where_c_has_no_such_number_or_name(self):
        for options, text in (
                ({"dims": {"N": 2**70}}, f"the size of dimension 'N' is {2**70}"),
                ({"input_shapes": {"x": [2**64 + 2, 3]}}, f"a size of input 'x' is {2**64 + 2}"),
                ({"check": 2**32 + 1}, "check is 4294967297"),
                ({"target_opset": 2**64 + 17}, f"target_opset is {2**64 + 17}"),
                ({"dims": {"N\0x": 8}}, ".* has a zero in it"),
                ({"input_shapes": {"x\0": [2, 3]}}, ".* has a zero in it")):
            with self.assertRaisesRegex(weft.InvalidArgumentError, f"^{text}$"):
                weft.optimize(weft.Model.from_text(RELUS), **options)
        with self.assertRaisesRegex(weft.InvalidArgumentError, f"^target_opset is {2**64 + 17}$"):
            weft.Model.from_text(RELUS).to_bytes(target_opset=2**64 + 17)

    def test_are_read_once_and_from_any_sequence(self):
        model = weft.Model.from_text(RELUS)
        sizes = {"N": np.int64(5)}
        result = weft.optimize(model, passes=(name for name in ["canonicalize"]), dims=sizes, rules=iter(()))
        self.assertEqual([one["pass"] for one in result.report["passes"]], ["canonicalize"])
        self.assertIn("tensor<5x3xf32>", str(result.model))
        shaped = weft.optimize(model, "none", input_shapes={"x": np.array([5, 3])}).model
        self.assertIn("tensor<5x3xf32>", str(shaped))


if __name__ == "__main__":
    unittest.main()
