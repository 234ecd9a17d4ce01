"""Models that are read and written compute what they did: ours, and those of the folder WEFT_LIGHT_MODELS, such as
onnx/backend/test/data/light of ONNX's sources, which Debian does not ship."""
import os
import pathlib
import unittest

import numpy as np
import weft

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


class RoundTripTest(unittest.TestCase):
    def test_of_every_light_model(self):
        paths = sorted(MODELS.glob("*.onnx"))
        self.assertGreaterEqual(len(paths), 4)
        if os.environ.get("WEFT_LIGHT_MODELS"):
            more = sorted(pathlib.Path(os.environ["WEFT_LIGHT_MODELS"]).glob("*.onnx"))
            self.assertTrue(more)
            paths += more
        for path in paths:
            with self.subTest(path.name):
                result = weft.optimize(path, "none")
                written = result.model.to_onnx()
                options = {"pipeline": "none", "threads": 1}
                before, after = weft.Session(path, **options), weft.Session(written, **options)
                inputs = inputs_of(before, 4)
                expected, found = before.run(inputs), after.run(inputs)
                self.assertEqual(list(found), list(expected))
                for name, array in expected.items():
                    np.testing.assert_array_equal(found[name], array, err_msg=name)


if __name__ == "__main__":
    unittest.main()
