"""The module as a whole: beside onnx in a process, and its types."""
import ast
import inspect
import pathlib
import subprocess
import sys
import unittest

import weft

from models import BERT


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


# What the types of a rule's function stand for.
PRIVATE = {"_Value": weft._values.Value, "_Source": weft._rules.Source, "_Replacement": weft._rules.Result}


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
        if any(p.kind == p.VAR_KEYWORD for p in parameters):
            return 0  # which it hands on: the stub is more exact
        named = [p.name for p in parameters if p.kind != p.VAR_POSITIONAL]
        self.assertEqual([a.arg for a in stub.args.args + stub.args.kwonlyargs], named, stub.name)
        self.assertEqual([stub.args.vararg.arg] if stub.args.vararg else [],
                         [p.name for p in parameters if p.kind == p.VAR_POSITIONAL], stub.name)
        self.assertEqual([a.arg for a in stub.args.kwonlyargs],
                         [p.name for p in parameters if p.kind == p.KEYWORD_ONLY], stub.name)
        return 1

    def test_of_optimize_is_what_it_takes(self):
        stub = next(n for n in self.tree.body if isinstance(n, ast.FunctionDef) and n.name == "optimize")
        takes = inspect.signature(weft._options.with_options).parameters
        self.assertEqual({a.arg for a in stub.args.kwonlyargs} | {"call", "pipeline"}, set(takes))


if __name__ == "__main__":
    unittest.main()
