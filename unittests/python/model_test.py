"""Models, optimising them, and errors."""
import copy
import os
import pathlib
import pickle
import signal
import tempfile
import threading
import unittest
import warnings

import onnx
import weft

from models import BERT, RELUS, WRONG_RULE


class ModelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def wrong_rule(self):
        path = self.folder / "wrong.weft"
        path.write_text(WRONG_RULE, encoding="utf-8")
        return path

    def test_is_optimised_from_each_source(self):
        data = pathlib.Path(BERT).read_bytes()
        model = weft.Model.load(BERT)
        before = model.num_operations
        for source in (BERT, pathlib.Path(BERT), data, bytearray(data), onnx.load(BERT), model):
            result = weft.optimize(source, "fuse")
            self.assertEqual(result.ops_before, before)
            self.assertEqual(result.size_before["operations"], before)
            self.assertGreater(result.size_before["flops"], 1.17e8)
            self.assertLess(result.size_after["operations"], before)
            self.assertEqual(result.model.num_operations, result.ops_after)
            self.assertLess(result.ops_after, before / 2)
        self.assertEqual(model.num_operations, before)
        self.assertEqual(model.optimize("fuse").model, model)
        self.assertLess(model.num_operations, before / 2)
        with self.assertRaisesRegex(TypeError, "expected a weft.Model, .*, found int"):
            weft.optimize(7)

    def test_is_the_same_in_bytes_onnx_and_a_file(self):
        model = weft.Model.load(BERT)
        model.save(self.folder / "a.onnx")
        data = model.to_bytes()
        self.assertEqual((self.folder / "a.onnx").read_bytes(), data)
        self.assertEqual(model.to_onnx(), onnx.ModelProto.FromString(data))
        onnx.checker.check_model(model.to_onnx())
        again = weft.Model.from_onnx(model.to_onnx())
        self.assertEqual(str(again), str(weft.Model.from_bytes(data)))
        opset = model.to_onnx(target_opset=17).opset_import
        self.assertEqual([o.version for o in opset if o.domain == ""], [17])

    def test_is_read_from_text_and_cloned(self):
        model = weft.Model.from_text(RELUS)
        clone = model.clone()
        clone.optimize(dims={"N": 7})
        self.assertIn("tensor<7x3xf32>", str(clone))
        self.assertEqual(str(model), RELUS)
        model.optimize("none", input_shapes={"x": [5, 3]})
        self.assertIn("tensor<5x3xf32>", str(model))
        self.assertEqual(repr(model), "<weft.Model: 3 operations>")

    def test_reports_what_was_done(self):
        told = []
        result = weft.optimize(BERT, "fuse", check=1, progress=lambda *step: told.append(step))
        gelus = [rule["applied"] for rule in result.stats if rule["rule"] == "fuse-erf-gelu"]
        self.assertEqual(gelus, [2])
        self.assertEqual(sum(rewrite["rule"] == "fuse-erf-gelu" for rewrite in result.rewrites), 2)
        self.assertEqual([number for _, number, _, _ in told], list(range(1, told[0][2] + 1)))
        self.assertEqual([name for name, *_ in told], [p["pass"] for p in result.report["passes"]])
        self.assertLess(max(output["difference"] for output in result.report["outputs"]), 5e-6)
        self.assertIn("fuse-erf-gelu applied 2 times", str(result))

    def test_records_rewrites_unless_it_is_told_not_to(self):
        result = weft.optimize(BERT, "fuse")
        self.assertEqual(len(result.rewrites), 83)
        self.assertEqual([rewrite["number"] for rewrite in result.rewrites], list(range(1, 84)))
        without = weft.optimize(BERT, "fuse", record_rewrites=False)
        self.assertEqual((without.rewrites, str(without.model)), ([], str(result.model)))

    def test_draws_a_picture_during_the_run_or_later(self):
        model = weft.Model.load(BERT)
        drawn = weft.optimize(model, "fuse", check=1, picture=True).report_html()
        self.assertTrue(drawn.startswith("<!DOCTYPE html>"))
        self.assertIn("fuse-erf-gelu", drawn)
        result = model.optimize("fuse", check=1)
        optimised = str(result.model)
        model.optimize("simplify")  # whatever comes later
        self.assertEqual(result.report_html(), drawn)
        self.assertIs(result.report_html(), result.report_html())
        self.assertEqual(str(result.model), optimised)

    def test_draws_later_what_it_was_given(self):
        asked, told, stops = [], [], []

        @weft.rule("exact")
        def relu_relu(src, res):
            x = src.tensor("x")
            src.require(lambda x: asked.append(x.type) or True, "it is asked")
            return src.Relu(src.Relu(x)), res.Relu(x)
        rules, dims = [relu_relu], {"N": 7}
        result = weft.optimize(weft.Model.from_text(RELUS), "none", rules=rules, dims=dims,
                               progress=lambda *step: told.append(step), stop=lambda: bool(stops.append(1)))
        rules.clear()
        dims["N"] = 9
        before = len(asked), len(told), len(stops)
        self.assertIn("relu-relu", result.report_html())
        self.assertEqual(set(asked[before[0]:]), {"tensor<7x3xf32>"})
        self.assertLess(len(asked) - before[0], before[0])  # it is not judged again
        self.assertEqual((len(told), len(stops)), before[1:])

    def test_says_when_it_drew_another_run(self):
        answers = [True]

        @weft.rule("exact")
        def relu_relu(src, res):
            x = src.tensor("x")
            src.require(lambda x: answers[0], "it is so")
            return src.Relu(src.Relu(x)), res.Relu(x)
        result = weft.optimize(weft.Model.from_text(RELUS), "none", rules=[relu_relu], trust_rules=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            weft.optimize(weft.Model.from_text(RELUS), "none").report_html()
        answers[0] = False
        with self.assertWarnsRegex(UserWarning, "the picture is of another run") as caught:
            result.report_html()
        self.assertEqual(caught.filename, __file__)

    def test_draws_nothing_without_the_rules(self):
        path = self.folder / "rule.weft"
        path.write_text(WRONG_RULE, encoding="utf-8")
        result = weft.optimize(weft.Model.from_text(RELUS), "none", rules=path, trust_rules=True)
        path.unlink()
        with self.assertRaisesRegex(weft.InvalidArgumentError, "rule.weft"):
            result.report_html()

    def test_takes_passes_and_rules_by_name(self):
        result = weft.optimize(weft.Model.from_text(RELUS), passes=["canonicalize"])
        applied = {rule["rule"] for rule in result.stats if rule["applied"]}
        self.assertTrue(applied)
        self.assertEqual([p["pass"] for p in result.report["passes"]], ["canonicalize"])
        without = weft.optimize(weft.Model.from_text(RELUS), passes=["canonicalize"], disable_rules=applied)
        self.assertFalse([rule for rule in without.stats if rule["applied"]])

    def test_refuses_in_a_line_what_is_wrong(self):
        model = weft.Model.from_text(RELUS)
        for pattern, call in (
                ("no.onnx", lambda: weft.Model.load("no.onnx")),
                ("byte", lambda: weft.Model.from_bytes(b"not a model")),
                ("<text>:1:", lambda: weft.Model.from_text("module {")),
                (".onnx or .ir", lambda: model.save("model.pt")),
                ("did you mean 'simplify'", lambda: model.optimize("simplfy")),
                ("0 to 1000", lambda: model.optimize(check=1001)),
                ("unknown dimension 'M'", lambda: model.optimize(dims={"M": 1}))):
            with self.assertRaisesRegex(weft.InvalidArgumentError, pattern) as caught:
                call()
            self.assertIsInstance(caught.exception, ValueError)
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(ValueError, r"aaa'\.\.\. has a zero in it"):
            weft.Model.load("a" * 100 + "\0.onnx")
        for wrong in (BERT, 1):
            with self.assertRaisesRegex(TypeError, "made by load, from_bytes"):
                weft.Model(wrong)
        with self.assertRaisesRegex(ValueError, "has a zero in it"):
            weft.Model.from_text(RELUS + "\0")

    def test_is_copied_as_a_clone_and_not_pickled(self):
        model = weft.Model.from_text(RELUS)
        for copied in (copy.copy(model), copy.deepcopy([model])[0]):
            copied.optimize()
            self.assertLess(copied.num_operations, model.num_operations)
        self.assertEqual(str(model), RELUS)
        result = copy.deepcopy(model.clone().optimize())
        self.assertEqual(result.ops_after, result.model.num_operations)
        for refused in (model, result):
            with self.assertRaisesRegex(TypeError, "a weft.Model cannot be pickled"):
                pickle.dumps(refused)

    def test_is_what_it_was_where_the_check_is_interrupted(self):
        model = weft.Model.load(BERT)
        before, passes = str(model), []

        def interrupt():
            if len(passes) == passes_of_all:
                os.kill(os.getpid(), signal.SIGINT)
            return False
        passes_of_all = len(model.clone().optimize("fuse").report["passes"])
        with self.assertRaises(KeyboardInterrupt):
            model.optimize("fuse", check=2, progress=lambda *step: passes.append(step), stop=interrupt)
        self.assertEqual(len(passes), passes_of_all)
        self.assertEqual(str(model), before)

    def test_tells_why_a_rule_is_refuted_and_checks_a_trusted_one(self):
        model = weft.Model.from_text(RELUS)
        with self.assertRaisesRegex(weft.CheckFailedError, "1 rule refuted: relu-to-tanh") as caught:
            model.optimize(rules=[self.wrong_rule()])
        self.assertIn("relu-to-tanh is refuted", caught.exception.details)
        with self.assertRaisesRegex(weft.CheckFailedError, "outputs differ by"):
            model.optimize(rules=self.wrong_rule(), trust_rules=True, check=1)
        self.assertEqual(str(model), RELUS)
        model.optimize(rules=[self.wrong_rule()], trust_rules=True, check=1, check_tolerance=10)
        self.assertIn("onnx.Tanh", str(model))


class StoppingTest(unittest.TestCase):
    def setUp(self):
        self.model = weft.Model.load(BERT)
        self.before = str(self.model)
        self.told = []

    def tearDown(self):
        self.assertEqual(str(self.model), self.before)
        self.assertEqual(len(self.told), 2)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def second(self, action):
        def progress(*step):
            self.told.append(step)
            if len(self.told) == 2:
                action()
        return progress

    def test_is_asked(self):
        with self.assertRaisesRegex(weft.CancelledError, "stopped before"):
            self.model.optimize(progress=self.second(lambda: None), stop=lambda: len(self.told) == 2)

    def test_is_done_by_an_exception_which_comes_through(self):
        def fail():
            raise KeyError("of the caller's")
        with self.assertRaisesRegex(KeyError, "of the caller's"):
            self.model.optimize(progress=self.second(fail))

    def test_is_done_by_interrupt(self):
        with self.assertRaises(KeyboardInterrupt):
            self.model.optimize(progress=self.second(lambda: os.kill(os.getpid(), signal.SIGINT)))

    def test_is_done_in_another_thread(self):
        caught = []

        def work():
            try:
                self.model.optimize(progress=self.second(lambda: None), stop=lambda: len(self.told) == 2)
            except weft.Error as error:
                caught.append(error)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertIsInstance(caught[0], weft.CancelledError)


if __name__ == "__main__":
    unittest.main()
