"""Rules written in Python."""
import inspect
import math
import os
import pathlib
import signal
import tempfile
import threading
import unittest

import numpy as np
import weft
from weft import _dtypes

from models import BERT, RELUS, WRONG_RULE

HERE = os.path.abspath(__file__)


def next_line():
    return f"{HERE}:{inspect.currentframe().f_back.f_lineno + 1}"


@weft.rule("exact")
def relu_relu(src, res):
    x = src.tensor("x")
    return src.Relu(src.Relu(x)), res.Relu(x)


@weft.rule("exact")
def relu_to_tanh(src, res):
    x = src.tensor("x")
    return src.Relu(x), res.Tanh(x)


# x * 1/2 * (1 + erf(x / sqrt(2))) => gelu(x)
@weft.rule("reassociates")
def erf_gelu(src, res):
    x = src.tensor("x")
    erf = src.Erf(x / src.splat(math.sqrt(2), 1e-6))
    gelu = x * 0.5 * (erf + 1)
    src.require(weft.dtype_is(x, "f32"))
    src.require(weft.same_type(x, gelu), "no constant makes it larger")
    return gelu, res.fused.gelu(x)


class RulesTest(unittest.TestCase):
    def relus(self):
        return weft.Model.from_text(RELUS)

    def test_fuses_a_pattern_of_bert(self):
        result = weft.optimize(BERT, "none", rules=[erf_gelu], check=1)
        self.assertEqual([(rule["rule"], rule["applied"]) for rule in result.stats], [("erf-gelu", 2)])
        self.assertEqual(str(result.model).count('"fused.gelu"'), 2)
        self.assertNotIn('"onnx.Erf"', str(result.model))

    def test_is_the_text_that_others_read(self):
        self.assertEqual(relu_relu.text, str(relu_relu))
        self.assertEqual(relu_relu.text, """rule relu-relu {
  numerics exact
  benefit 2
  source {
    %0 = onnx.Relu(%x)
    %1 = onnx.Relu(%0)
  }
  result {
    !0 = onnx.Relu(%x)
  }
  replace %1 with !0
}
""")
        again = weft.rules_from_text(relu_relu.text)
        self.assertEqual(again.text, relu_relu.text)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rules.weft"
            path.write_text(relu_relu.text, encoding="utf-8")
            for rules in (relu_relu, [relu_relu], [again], path, [path]):
                result = weft.optimize(self.relus(), "none", rules=rules)
                self.assertEqual(str(result.model).count("onnx.Relu"), 1)
            with self.assertRaisesRegex(weft.InvalidArgumentError, "a rule before it is called 'relu-relu' too"):
                weft.optimize(self.relus(), rules=[path, relu_relu])

    def test_is_judged(self):
        judged = weft.judge(relu_relu)
        self.assertEqual((judged.rule, judged.numerics, judged.verdict, judged.counterexample),
                         ("relu-relu", "exact", "tested", ""))  # which ir-opt --verify-rules proves
        self.assertIn("no Z3", weft.judge.__doc__)
        self.assertGreater(judged.programs, 3)
        self.assertEqual([j.verdict for j in weft.judge(weft.rules_from_text(WRONG_RULE))], ["refuted"])

    def test_that_is_wrong_is_refuted_with_a_counterexample(self):
        judged = relu_to_tanh.judge()
        self.assertEqual(judged.verdict, "refuted")
        self.assertIn("onnx.Relu", judged.counterexample)
        self.assertIn(judged.counterexample, str(judged))
        model = self.relus()
        with self.assertRaisesRegex(weft.CheckFailedError, "1 rule refuted: relu-to-tanh") as caught:
            model.optimize(rules=[relu_relu, relu_to_tanh])
        self.assertIn(f"{relu_to_tanh.origin}: relu-to-tanh is refuted", caught.exception.details)
        self.assertIn(HERE, relu_to_tanh.origin)
        self.assertEqual(str(model), RELUS)

    def test_that_is_no_rule_is_an_error_with_its_line_of_python(self):
        where = {}

        def record(body):
            def rule(src, res):
                where["line"] = next_line()
                return body(src, res)
            with self.assertRaises(weft.InvalidArgumentError) as caught:
                weft.rule("exact")(rule)
            self.assertNotIn("\n", str(caught.exception))
            return caught.exception
        x = "x"
        error = record(lambda src, res: (src.Relu(src.tensor(x), alpha=1), res.Relu(src.tensor(x))))
        self.assertRegex(str(error), f"^{HERE}:[0-9]+: error: onnx.Relu has no attribute 'alpha'")
        error = record(lambda src, res: (src.Relu(src.tensor(x)), res.Relu(src.tensor("y"))))
        self.assertRegex(str(error), f"^{HERE}:[0-9]+: error: .*y")
        with self.assertRaisesRegex(weft.InvalidArgumentError, "numerics are exact"):
            weft.rule("exactly")(lambda src, res: (src.Relu(src.tensor("x")), src.tensor("x")))

    def test_names_what_is_near_a_wrong_name(self):
        with self.assertRaisesRegex(AttributeError, "did you mean 'rank_is'"):
            weft.rank_iss  # pylint: disable=pointless-statement
        with self.assertRaisesRegex(AttributeError, "did you mean 'Softmax'"):
            weft.rule("exact")(lambda src, res: (src.Sotfmax(src.tensor("x")), None))
        with self.assertRaisesRegex(weft.InvalidArgumentError, "did you mean 'fused.linear'"):
            weft.rule("exact")(lambda src, res: (src.op("fused.linaer")(src.tensor("x")), None))
        with self.assertRaisesRegex(TypeError, r"rank_is\(value, integer\) takes 2 arguments, not 1"):
            weft.rank_is(None)
        with self.assertRaisesRegex(TypeError, "say what the rule does to numbers"):
            weft.rule(lambda src, res: None)
        with self.assertRaisesRegex(TypeError, "expected .source value"):
            weft.rule("exact")(lambda src, res: 1)
        self.assertIn("rank_is", dir(weft))
        self.assertIn("it has this rank", weft.rank_is.__doc__)

    def test_says_what_a_text_can_say(self):
        @weft.rule("approximate", name="all of it", benefit=7, algebra="a => b")
        def _(src, res):
            x, w, b = src.tensor("x"), src.tensor("w"), src.optional("b")
            p = src.attr("p")
            gemm = src.Gemm(x, w, b, alpha=src.one_of(1.0, 2.0), transA=..., transB=p)
            act = (src.Relu | src.LeakyRelu.attrs(alpha=0.5))(gemm)
            kept = src.keep(src.Transpose(src.skip(act, src.Identity, same_type=[src.Cast]), perm=[1, 0]))
            first, second = src.Split(kept, ..., results=2)
            out = src.Add(src.either(first, src.Neg(first)), second)
            src.require(weft.rank_is(w, 2), "w is a matrix")
            src.require(weft.constant(b.if_given))
            src.profitable(weft.dim_at_least(x, 0, 4), "x is long")
            made = res.fused.linear(x, w, b, activation="relu")
            scaled = made * res.constant(weft.scalar(x, 0.5)) + res.constant(np.array([1, 2], np.float32))
            again = res.Cast(res.like(act)(scaled), to="f32", at="cast")
            return out, res.Transpose(again, attrs_of=kept, at=x)
        text = _.text
        for line in ('rule "all of it" {', 'algebra "a => b"', "numerics approximate", "benefit 7",
                     "onnx.Gemm{alpha: in(1.0, 2.0), transA: any, transB: $p}(%x, %w, %b)",
                     "onnx.Relu | onnx.LeakyRelu{alpha: 0.5}", "onnx.Transpose{perm: array[1,0]}", "onnx.Split{...}",
                     "skip(%1, onnx.Identity, onnx.Cast same_type)", "either(", "optional %b", "keep ",
                     'require "w is a matrix" rank_is(%w, 2)', "constant(%b?)",
                     'profitable "x is long" dim_at_least(%x, 0, 4)', 'fused.linear{activation: "relu"}(%x, %w, %b)',
                     "builtin.constant{value: = scalar(%x, 0.5)}()", "dense<tensor<2xf32>, [1.0,2.0]>", "like %1(",
                     'onnx.Cast{to: float32}(!', ' named "cast"', "onnx.Transpose{attrs of", " at %x"):
            self.assertIn(line, text)

    def test_names_element_types_as_values_do(self):
        for name, _ in _dtypes.DTYPES.values():
            @weft.rule("exact", name="of-type")
            def of_type(src, res, name=name):
                x = src.tensor("x")
                src.require(weft.dtype_is(x, name))
                return src.Identity(x), x
            self.assertIn("dtype_is(%x, ", of_type.text)

    def test_none_is_no_element_type(self):
        with self.assertRaisesRegex(weft.InvalidArgumentError, "None is no element type"):
            @weft.rule("exact")
            def of_none(src, res):
                x = src.tensor("x")
                return src.Cast(x, to=None), x

    def test_scalars_of_numpy_keep_their_type(self):
        @weft.rule("exact")
        def adds_zero(src, res):
            x = src.tensor("x")
            src.require(weft.dtype_is(x, "f64"))
            return src.Identity(x), x + res.constant(np.float64(0))
        self.assertIn("tensor<f64>", adds_zero.text)

    def test_says_the_rest_of_it(self):
        @weft.rule("changes-meaning")
        def lists(src, res):
            xs, p = src.tensors("xs"), src.attr("p")
            relus = src.each(src.Relu)(xs)
            src.require(weft.not_zero(p))
            return src.Concat(relus, axis=p), res.Concat(res.each(res.Tanh)(xs), axis=p)
        self.assertIn("each onnx.Relu(%xs)", lists.text)
        self.assertIn("each onnx.Tanh(%xs*)", lists.text)

        @weft.rule("changes-meaning")
        def others(src, res):
            x = src.tensor("x")
            y = src.any_op("elementwise")(src.repeat(src.Relu | src.Tanh, 0, 4)(src.named("acme.gate")(x)))
            src.not_(y, src.Neg(src.tensor("z")))
            return [(y, x)]
        for line in ("any[elementwise](", "repeat 0..4 onnx.Relu | onnx.Tanh(", 'named "acme.gate"(%x)', "not "):
            self.assertIn(line, others.text)


class FunctionsTest(unittest.TestCase):
    def setUp(self):
        self.model = weft.Model.from_text(RELUS.replace('"N"', "8"))

    def rule(self, function, why="it fits", *names):
        @weft.rule("exact", name="relu-relu")
        def made(src, res):
            x = src.tensor("x")
            src.require(function, why, *[{"x": x, 4: 4}[name] for name in names])
            return src.Relu(src.Relu(x)), res.Relu(x)
        return made

    def applied(self, rule, model=None, **options):
        return weft.optimize(model or self.model, "none", rules=[rule], **options).ops_after == 2

    def test_let_pass_and_refuse(self):
        by_four = self.rule(lambda x: x.shape[0] % 4 == 0)
        self.assertTrue(self.applied(by_four))
        self.assertFalse(self.applied(by_four, weft.Model.from_text(RELUS.replace('"N"', "6"))))
        self.assertFalse(self.applied(by_four, weft.Model.from_text(RELUS)))  # not known: not proved
        self.assertIn('require "it fits" native', by_four.text)
        self.assertIn("native: tested", by_four.judge().badge)
        with self.assertWarnsRegex(UserWarning, "relu-relu is unjudged: no program found") as caught:
            self.assertFalse(self.applied(self.rule(lambda x: x.rank == 77)))
        self.assertEqual(caught.filename, HERE)

    def test_are_judged_every_time(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.environ.get("XDG_CACHE_HOME")
            os.environ["XDG_CACHE_HOME"] = folder
            try:
                self.applied(self.rule(lambda x: True))
                self.assertEqual(os.listdir(folder), [])
                self.applied(relu_relu)
                self.assertEqual(os.listdir(folder), ["weft"])
            finally:
                os.environ.pop("XDG_CACHE_HOME")
                if before is not None:
                    os.environ["XDG_CACHE_HOME"] = before

    def test_are_told_of_the_match(self):
        seen = []

        def note(x, four):
            seen.append((x.dtype, x.type, x.has_rank and x.shape, four, x.array))
            return True
        self.assertTrue(self.applied(self.rule(note, "it fits", "x", 4)))
        self.assertIn(("f32", "tensor<8x3xf32>", (8, 3), 4, None), seen)

    def test_are_told_of_constants_and_attributes(self):
        seen = []

        @weft.rule("exact", name="gemm")
        def gemm(src, res):
            x, w, c = src.tensor("x"), src.tensor("w"), src.optional("c")
            t, p = src.attr("t"), src.attr("p")
            src.require(lambda w, c, t, p: seen.append((w.array, c, t, p)) or False, "never")
            return src.Transpose(src.Gemm(x, w, c, ..., transB=t), perm=p), x
        model = weft.Model.from_text(
            'module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x2xf32>) {\n'
            ' (%1) = "builtin.constant" () {value:dense<tensor<2x2xf32>, [1.0,2.0,3.0,4.0]>} : () -> tensor<2x2xf32>\n'
            ' (%2) = "onnx.Gemm" (%0, %1) {transB:1} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n'
            ' (%3) = "onnx.Transpose" (%2) {perm:array[1,0]} : (tensor<2x2xf32>) -> tensor<2x2xf32>\n'
            ' () = "builtin.return" (%3) {} : (tensor<2x2xf32>) -> \n}\n')
        weft.optimize(model, "none", rules=[gemm], trust_rules=True)
        w, c, t, p = seen[0]
        np.testing.assert_array_equal(w, [[1, 2], [3, 4]])
        self.assertEqual((w.dtype, c, t, p), (np.float32, None, 1, [1, 0]))

    def test_sizes_that_are_symbols_equal_themselves_only(self):
        model = weft.Model.from_text(RELUS)
        self.assertTrue(self.applied(self.rule(lambda x: x.shape[0] == x.shape[0]), model))
        for doubtful in (lambda x: x.shape[0] == 8, lambda x: x.shape[0] != 8, lambda x: x.shape[0] < 99,
                         lambda x: x.shape[0] != x.shape[0], lambda x: not x.shape[0] > 0,
                         lambda x: x.shape[0] * 2 > 0):
            self.assertFalse(self.applied(self.rule(doubtful), model, trust_rules=True))

    def test_raise_through_the_library(self):
        def fail(x):
            raise KeyError("of the caller's")
        for trust in (False, True):
            with self.assertRaisesRegex(KeyError, "of the caller's"):
                self.model.optimize("none", rules=[self.rule(fail)], trust_rules=trust)
        with self.assertRaisesRegex(KeyError, "of the caller's"):
            self.rule(fail).judge()
        self.assertEqual(str(self.model), RELUS.replace('"N"', "8"))

    def test_of_several_rules_are_asked_in_threads_and_raise_from_there(self):
        threads, wanted = set(), min(2, len(os.sched_getaffinity(0)))
        all_here, raised = threading.Event(), threading.Event()

        def rules(answer):
            made = []
            for number in range(8):
                @weft.rule("exact", name=f"relu-relu-{number}")
                def rule(src, res):
                    x = src.tensor("x")
                    src.require(answer, "it fits", x)
                    return src.Relu(src.Relu(x)), res.Relu(x)
                made.append(rule)
            return made

        def note(_):
            threads.add(threading.get_ident())
            if len(threads) == wanted:
                all_here.set()
            return all_here.wait(100)
        self.assertEqual(self.model.clone().optimize("none", rules=rules(note)).ops_after, 2)
        self.assertGreaterEqual(len(threads), wanted)

        def fail(_):
            if threading.current_thread() is threading.main_thread() and wanted > 1:
                return raised.wait(100)
            raised.set()
            raise KeyError("of another thread")
        with self.assertRaisesRegex(KeyError, "of another thread"):
            self.model.optimize("none", rules=rules(fail))

    def test_may_not_use_models(self):
        for trust in (False, True):
            with self.assertRaisesRegex(weft.InvalidArgumentError, "must not use models or sessions"):
                self.model.optimize("none", rules=[self.rule(lambda x: str(self.model))], trust_rules=trust)
        self.assertEqual(str(self.model), RELUS.replace('"N"', "8"))

    def test_end_by_interrupt(self):
        def interrupt(x):
            os.kill(os.getpid(), signal.SIGINT)
            return True
        for run in (lambda: self.model.optimize("none", rules=[self.rule(interrupt)], trust_rules=True),
                    self.rule(interrupt).judge, lambda: relu_relu.judge(stop=lambda: not interrupt(None))):
            with self.assertRaises(KeyboardInterrupt):
                run()
            self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_judging_is_stopped(self):
        with self.assertRaises(weft.CancelledError):
            relu_to_tanh.judge(stop=lambda: True)
        with self.assertRaisesRegex(weft.CancelledError, "while rules were judged"):
            self.model.optimize(rules=[self.rule(lambda x: True)], stop=lambda: True)

    def test_are_refused_where_nothing_fits(self):
        with self.assertRaisesRegex(weft.InvalidArgumentError, "called 'y', as the function's parameter is"):
            self.rule(lambda y: True)
        with self.assertRaisesRegex(weft.InvalidArgumentError, "say what must hold"):
            self.rule(lambda x: True, "")
        text = 'rule r { source { %0 = onnx.Relu(%x) } require "f" native f(%x) result {} replace %0 with %x }'
        with self.assertRaisesRegex(weft.InvalidArgumentError, r"^mine:1:\d+: error: .* native code"):
            weft.rules_from_text(text, origin="mine")
        with self.assertRaisesRegex(weft.InvalidArgumentError, r"^<rule 7>:1:\d+: error: .* native code"):
            weft.rules_from_text(text, origin="<rule 7>")
        with self.assertRaisesRegex(ValueError, "has a zero in it"):
            weft.rules_from_text("rule\0")
        self.assertIn("native f(%x)", weft.rules_from_text(text, functions={"f": lambda x: True}).text)

    def test_serve_threads(self):
        rule, wrong = self.rule(lambda x: x.shape[0] % 2 == 0), []

        def work():
            model = weft.Model.from_text(RELUS.replace('"N"', "8"))
            for _ in range(2):
                if not self.applied(rule, model):
                    wrong.append(model)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class ExplainTest(unittest.TestCase):
    def test_says_where_a_rule_applies_and_why_not(self):
        model = weft.Model.from_text(RELUS)
        self.assertIn("before pass", weft.explain(model, "relu-relu", "none", rules=[relu_relu]))
        text = weft.explain(model, relu_relu, "none")
        self.assertIn("relu-relu was applied 1 time", text)
        self.assertEqual(str(model), RELUS)

    def test_explains_a_near_miss(self):
        @weft.rule("exact", name="near-miss")
        def near_miss(src, res):
            x = src.tensor("x")
            src.require(weft.dim_is(x, 1, 4), "x has four columns")
            return src.Relu(src.Relu(x)), res.Relu(x)
        text = weft.explain(weft.Model.from_text(RELUS), near_miss, "none")
        self.assertIn("does not hold: x has four columns", text)
        self.assertRegex(text, "rule line .*rules_test.py:[0-9]+")
        text = weft.explain(BERT, "fuse-attention", "fuse", at="/layers.0/Erf_output_0")
        self.assertIn("pass fuse-composite: fuse-attention was applied 2 times", text)

    def test_refuses_what_there_is_not(self):
        model = weft.Model.from_text(RELUS)
        with self.assertRaisesRegex(weft.InvalidArgumentError, "did you mean 'fuse-attention'"):
            weft.explain(model, "fuse-atention", "fuse")
        with self.assertRaisesRegex(weft.InvalidArgumentError, "unknown value 'nowhere'"):
            weft.explain(model, relu_relu, "none", at="nowhere")


if __name__ == "__main__":
    unittest.main()
