#!/usr/bin/env python3
"""Runs the programs, and validates the JSON that they print against tools/schemas: schemas_test.py IR_OPT IR_RUN

What a schema does not know is refused. Needs jsonschema (python3-jsonschema)."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

IR_OPT, IR_RUN = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
ROOT = pathlib.Path(__file__).resolve().parents[3]
BERT = str(ROOT / "unittests/models/bert_tiny.onnx")
UNIT_FACTOR = str(ROOT / "unittests/models/unit_factor_broadcasts.ir")
WRONG_RULE = """rule relu-to-tanh {
  numerics exact
  source { %0 = onnx.Relu(%x) }
  result { !0 = onnx.Tanh(%x) }
  replace %0 with !0
}
"""
RELU = """module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<"N"x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<"N"x3xf32>) -> tensor<"N"x3xf32>
 () = "builtin.return" (%1) {} : (tensor<"N"x3xf32>) ->
}
"""


def schema(name):
    return json.loads((ROOT / "tools/schemas" / f"{name}.json").read_text(encoding="utf-8"))


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, XDG_CACHE_HOME="/dev/null"), check=False, timeout=300)
    if done.returncode != code:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return done


class SchemasTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            pathlib.Path(path).write_text(text, encoding="utf-8")
        return path

    def valid(self, name, text):
        """The answer, which is of the schema; one with a field more, or without one of its own, is not."""
        answer = json.loads(text)
        validator = jsonschema.Draft202012Validator(schema(name))
        validator.validate(answer)
        self.assertFalse(validator.is_valid({**answer, "unheard_of": 1}))
        for field in answer:
            self.assertFalse(validator.is_valid({key: value for key, value in answer.items() if key != field}), field)
        return answer

    def test_every_schema_is_one_and_every_answer_has_one(self):
        names = {path.stem for path in (ROOT / "tools/schemas").glob("*.json")}
        self.assertEqual(names, {"stats", "list_passes", "list_rules", "list_ops", "list_constraints", "bench",
                                 "profile", "report", "explain", "check", "batch"})
        for name in names:
            jsonschema.Draft202012Validator.check_schema(schema(name))

    def test_stats(self):
        out = self.path("out.onnx")
        stats = self.valid("stats", run(IR_OPT, BERT, "-o", out, "--pipeline", "fuse", "--stats=json").stderr)
        self.assertEqual((stats["before"]["operations"], stats["before"]["uncounted_operations"]), (170, 0))
        self.assertGreater(stats["before"]["flops"], 1.17e8)
        rules = [rule for one in stats["passes"] for rule in one["rules"]]
        self.assertIn("fuse-erf-gelu", [rule["rule"] for rule in rules if rule["applied"]])
        open_sizes = self.valid("stats", run(IR_OPT, self.path("a.ir", RELU), "--stats", "--json").stderr)
        self.assertIsNone(open_sizes["after"]["arena_bytes"])
        self.valid("stats", run(IR_RUN, BERT, "--random-inputs", "1", "--stats=json").stderr)

    def test_lists(self):
        for flag, field in (("passes", "passes"), ("rules", "rules"), ("ops", "ops"), ("constraints", "constraints")):
            text = run(IR_OPT, f"--list-{flag}=json").stdout
            self.assertEqual(text, run(IR_OPT, f"--list-{flag}", "--json").stdout)
            self.assertGreater(len(self.valid(f"list_{flag}", text)[field]), 10)
        ops = json.loads(run(IR_OPT, "--list-ops=json").stdout)["ops"]
        relu = next(op for op in ops if op["name"] == "onnx.Relu")
        self.assertEqual(relu["onnx"], {"domain": "", "op_type": "Relu", "since": 14})

    def test_one_rule_and_the_rules_of_a_file(self):
        one = self.valid("list_rules", run(IR_OPT, "--list-rules", "fuse-erf-gelu", "--json").stdout)["rules"]
        self.assertEqual([(rule["name"], rule["kind"]) for rule in one], [("fuse-erf-gelu", "rule")])
        file = self.path("wrong.weft", WRONG_RULE)
        of_file = self.valid("list_rules", run(IR_OPT, "--list-rules=json", "--rules-file", file).stdout)["rules"]
        self.assertEqual([(rule["name"], rule["group"]) for rule in of_file], [("relu-to-tanh", None)])

    def test_explain(self):
        refused = self.valid("explain", run(IR_OPT, UNIT_FACTOR, "--explain", "drop-unit-factor", "--json").stdout)
        look = refused["looks"][-1]
        self.assertEqual((look["when"], look["outcome"]), ("after the run", "refused"))
        self.assertEqual(look["expected"], "x has the type of the result")
        self.assertEqual(look["where"]["x"], '%0 "x" : tensor<3xf32>')
        self.assertIn(look["because"], look["text"])
        fuse = [IR_OPT, BERT, "--pipeline", "fuse", "--json", "--explain"]
        applies = self.valid("explain", run(*fuse, "fuse-attention").stdout)
        self.assertEqual((applies["looks"][0]["outcome"], len(applies["looks"][0]["sites"])), ("applies", 2))
        self.assertIn(2, [one["applied"] for one in applies["passes"]])
        gone = self.valid("explain", run(*fuse, "fuse-attention@/layers.0/att/Softmax_output_0").stdout)
        self.assertEqual((gone["value"], gone["looks"][1]["outcome"]), ("/layers.0/att/Softmax_output_0", "no value"))
        self.valid("explain", run(IR_OPT, BERT, "--json", "--explain", "fuse-attention").stdout)

    def test_check(self):
        out = self.path("out.onnx")
        passed = self.valid("check", run(IR_OPT, BERT, "-o", out, "--pipeline", "fuse", "--check", "--json").stderr)
        self.assertEqual((passed["passed"], passed["error"]), (True, None))
        self.assertEqual([(output["name"], output["agrees"]) for output in passed["outputs"]], [("182", True)])
        wrong = [self.path("a.ir", RELU), "--rules-file", self.path("wrong.weft", WRONG_RULE), "--trust-rules"]
        done = run(IR_OPT, *wrong, "-o", self.path("b.ir"), "--check=2", "--json", code=1)
        text, error = done.stderr.rsplit("ir-opt: error: ", 1)
        failed = self.valid("check", text)
        self.assertEqual((failed["passed"], failed["outputs"][0]["agrees"]), (False, False))
        self.assertEqual(failed["error"], error.strip())

    def test_bench_and_profile(self):
        model = [IR_RUN, BERT, "--random-inputs", "1", "--threads", "1"]  # which no busy machine makes wait
        bench = self.valid("bench", run(*model, "--bench=json").stdout)
        times = bench["milliseconds"]
        self.assertEqual(times["runs"], len(bench["every_run"]))
        self.assertLessEqual(times["min"], times["p50"])
        profile = self.valid("profile", run(*model, "--profile", "--json").stdout)
        self.assertAlmostEqual(sum(step["share"] for step in profile["steps"]), 1, 6)
        self.assertIn("fused.attention", [step["op"] for step in profile["steps"]])
        both, end = json.JSONDecoder().raw_decode(run(*model, "--bench", "--profile", "--json").stdout)
        self.assertIn("every_run", both)
        self.assertGreater(end, 10)

    def test_batch(self):
        models = [BERT, self.path("a.ir", RELU), self.path("bad.ir", "no model")]
        done = run(IR_OPT, *models, "--output-dir", self.path("out"), "--stats", "--json", code=2)
        text, error = done.stderr.rsplit("ir-opt: error: ", 1)
        self.assertEqual(error, "1 of 3 models failed\n")
        text = text[text.index("\n{") + 1:] if text[0] != "{" else text
        bert, relu, bad = self.valid("batch", text)["models"]
        self.assertEqual((bert["operations_before"], bert["exit_code"], bert["error"]), (170, 0, None))
        self.valid("stats", json.dumps(bert["answers"][0]))
        self.assertEqual((relu["model"], len(relu["answers"])), (models[1], 1))
        self.assertEqual((bad["exit_code"], bad["operations_after"], bad["answers"]), (2, None, []))
        self.assertTrue(bad["error"])

    def test_json_on_stdout_is_alone_there(self):
        done = run(IR_RUN, BERT, "--random-inputs", "1", "--threads", "1", "--bench=json", "--compare", "reference")
        self.valid("bench", done.stdout)
        self.assertTrue(done.stderr.startswith("182: "), done.stderr)

    def test_report(self):
        model = [IR_RUN, BERT, "--random-inputs", "1", "--threads", "1"]
        report = self.valid("report", run(*model, "--report=json").stdout)
        self.assertEqual((report["operations_before"], report["agrees"], report["steps"]), (170, True, None))
        self.assertLess(report["difference"], 1e-5)

    def test_another_form_is_refused(self):
        for program, flag in ((IR_OPT, "--list-ops=jsn"), (IR_RUN, "--bench=jsn")):
            self.assertIn("did you mean 'json'?", run(program, BERT, flag, code=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
