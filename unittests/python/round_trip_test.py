"""Models that are read and written compute what they did: ours; those of ONNX that Debian's libonnx-testdata has, but
for tests of single operators, on the inputs that go with them; and those of the folder WEFT_LIGHT_MODELS, such as
onnx/backend/test/data/light of ONNX's sources, which Debian does not ship."""
import os
import pathlib
import unittest

import numpy as np
import onnx
import onnx.numpy_helper
import weft

ONNX_MODELS = pathlib.Path("/usr/share/libonnx-testdata/data")
MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"


def inputs_of(session, sizes):
    """Random ones, with the sizes of open dimensions."""
    random = np.random.default_rng(7)
    inputs = {}
    for value in session.inputs:
        shape = [sizes if dim is None else dim for dim in value.shape]
        if np.issubdtype(value.numpy_dtype, np.floating):
            inputs[value.name] = random.standard_normal(shape).astype(value.numpy_dtype)
        else:
            inputs[value.name] = random.integers(0, 2, shape).astype(value.numpy_dtype)
    return inputs


def given_inputs(session, folder):
    """Those of a test of ONNX, which are in the order of the model."""
    inputs = {}
    for i, value in enumerate(session.inputs):
        path = folder / f"test_data_set_0/input_{i}.pb"
        if value.has_default and not path.exists():
            continue
        data = path.read_bytes()
        if value.is_tensor:
            inputs[value.name] = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))
        else:
            inputs[value.name] = onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    return inputs


class RoundTripTest(unittest.TestCase):
    def check(self, path, inputs_for):
        written = weft.optimize(path, "none").model.to_onnx()
        options = {"pipeline": "none", "threads": 1}
        before, after = weft.Session(path, **options), weft.Session(written, **options)
        inputs = inputs_for(before)
        expected, found = before.run(inputs), after.run(inputs)
        self.assertEqual(list(found), list(expected))
        for name, value in expected.items():
            lists = [one if isinstance(one, list) else [one] for one in (value, found[name])]
            self.assertEqual(len(lists[0]), len(lists[1]), name)
            for array, other in zip(*lists):
                np.testing.assert_array_equal(other, array, err_msg=name)

    def test_of_our_models_and_of_every_light_model(self):
        paths = sorted(MODELS.glob("*.onnx"))
        self.assertGreaterEqual(len(paths), 4)
        if os.environ.get("WEFT_LIGHT_MODELS"):
            more = sorted(pathlib.Path(os.environ["WEFT_LIGHT_MODELS"]).glob("*.onnx"))
            self.assertTrue(more)
            paths += more
        for path in paths:
            with self.subTest(path.name):
                self.check(path, lambda session: inputs_of(session, 4))

    @unittest.skipUnless(ONNX_MODELS.exists(), "libonnx-testdata is not installed")
    def test_of_the_models_that_onnx_has_tests_of(self):
        paths = [path for suite in ("pytorch-converted", "pytorch-operator", "simple")
                 for path in sorted(ONNX_MODELS.glob(f"{suite}/*/model.onnx"))
                 if not path.parent.name.startswith("test_gradient_of_")]  # an operator that no kernel runs
        self.assertGreater(len(paths), 80)
        for path in paths:
            with self.subTest(path.parent.name):
                self.check(path, lambda session, folder=path.parent: given_inputs(session, folder))


if __name__ == "__main__":
    unittest.main()
