"""Outputs that lie where an input lies."""
import unittest

import numpy as np
import weft

# present = past and a row; y = the row times each of those
GROW = '''module {input_names:strings["past","row"],output_names:strings["present","y"]} (%0: tensor<"P"x4xf32>, %1: tensor<1x4xf32>) {
 (%2) = "onnx.Concat" (%0, %1) {axis:0} : (tensor<"P"x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
 (%3) = "onnx.Mul" (%1, %2) {} : (tensor<1x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
 () = "builtin.return" (%2, %3) {} : (tensor<?x4xf32>, tensor<?x4xf32>) -> 
}
'''


class BoundOutputsTest(unittest.TestCase):
    def setUp(self):
        self.model = weft.Model.from_text(GROW)
        self.session = weft.Session(self.model, threads=1, bound_outputs={"present": "past"})

    def test_grow_in_an_array_of_the_caller(self):
        unbound = weft.Session(self.model, threads=1)
        cache, y = np.full((8, 4), -1, np.float32), np.empty((8, 4), np.float32)
        past = np.empty((0, 4), np.float32)
        for n in range(len(cache)):
            row = np.random.default_rng(n).standard_normal((1, 4), np.float32)
            got = self.session.run({"past": cache[:n], "row": row}, {"present": cache[:n + 1], "y": y[:n + 1]})
            self.assertEqual(got["present"].ctypes.data, cache.ctypes.data)
            expected = unbound.run({"past": past, "row": row})
            past = expected["present"]
            np.testing.assert_array_equal(cache[:n + 1], past)
            np.testing.assert_array_equal(y[:n + 1], expected["y"])
            self.assertTrue((cache[n + 1:] == -1).all())

    def test_take_arrays_that_begin_at_one_address(self):
        cache, row, y = np.zeros((2, 4), np.float32), np.ones((1, 4), np.float32), np.empty((2, 4), np.float32)
        why = "output 'present' must be given the address of input 'past'"
        for past in (np.zeros((1, 4), np.float32), cache[1:], cache.reshape(1, 8)[:, ::2]):  # the last is copied
            with self.assertRaisesRegex(weft.InvalidArgumentError, why):
                self.session.run({"past": past, "row": row}, {"present": cache, "y": y})
        with self.assertRaisesRegex(weft.InvalidArgumentError, why):
            self.session.run({"past": cache[:1], "row": row})

    def test_have_names(self):
        for bound, why in (({"presents": "past"}, "no such output"), ({"present": "pasta"}, "no such input"),
                           ({"present": "past", "y": "past"}, "bound already")):
            with self.assertRaisesRegex(weft.InvalidArgumentError, why):
                weft.Session(self.model, bound_outputs=bound)
        for wrong in (1, None):
            with self.assertRaisesRegex(TypeError, f"a name is a str, found {type(wrong).__name__}"):
                weft.Session(self.model, bound_outputs={"present": wrong})


if __name__ == "__main__":
    unittest.main()
