"""Sessions on arrays of numpy's."""
import copy
import gc
import os
import pickle
import signal
import threading
import time
import unittest

import numpy as np
import onnx
import weft
from weft import _session

from models import BERT, MAKE, RELUS, SUMS, TAKE, identity, tanhs


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class SessionTest(unittest.TestCase):
    def setUp(self):
        self.session = weft.Session(weft.Model.from_text(SUMS), threads=1)
        self.a = np.array([[1, 2], [3, 4]], np.float32)
        self.b = np.array([[10, 20], [30, 40]], np.float32)

    def test_runs_by_name(self):
        y = self.session.run({"b": self.b, "a": self.a})
        self.assertEqual(list(y), ["sum", "difference"])
        np.testing.assert_array_equal(y["sum"], self.a + self.b)
        np.testing.assert_array_equal(y["difference"], self.a - self.b)

    def test_says_what_it_takes(self):
        b = self.session.inputs[1]
        self.assertEqual((b.name, b.dtype, b.shape, b.type, b.has_default, b.numpy_dtype),
                         ("b", "f32", (None, 2), 'tensor<"N"x2xf32>', False, np.float32))
        self.assertEqual([y.name for y in self.session.outputs], ["sum", "difference"])

    def test_outputs_live_as_long_as_their_arrays(self):
        y = self.session.run({"a": self.a, "b": self.b})["sum"]
        view = y[1:]
        del self.session, y
        gc.collect()
        np.testing.assert_array_equal(view, [[33, 44]])
        view += 1  # it may be written to
        self.assertEqual(view[0, 0], 34)

    def test_copies_neither_inputs_nor_outputs(self):
        given = _session._Given("a", self.a, {"a": 1})
        self.assertEqual(given.tensor.data, self.a.ctypes.data)
        y = self.session.run({"a": self.a, "b": self.b})["sum"]
        self.assertFalse(y.flags.owndata)
        self.assertIsInstance(y.base, _session._Memory)

    def test_writes_into_arrays_of_the_caller(self):
        into = {"difference": np.zeros((2, 2), np.float32), "sum": np.zeros((2, 2), np.float32)}
        y = self.session.run({"a": self.a, "b": self.b}, into)
        self.assertIs(y["sum"], into["sum"])
        np.testing.assert_array_equal(into["sum"], self.a + self.b)
        np.testing.assert_array_equal(into["difference"], self.a - self.b)
        for wrong in (into["sum"].T, np.broadcast_to(into["sum"][0], (2, 2)), into["sum"].astype(">f4")):
            with self.assertRaisesRegex(weft.InvalidArgumentError, "output 'sum' is not contiguous, writable"):
                self.session.run({"a": self.a, "b": self.b}, dict(into, sum=wrong))
        with self.assertRaisesRegex(weft.InvalidArgumentError, "output 'sum' is not given"):
            self.session.run({"a": self.a, "b": self.b}, {"difference": into["difference"]})
        with self.assertRaisesRegex(TypeError, "output 'sum' is no numpy.ndarray"):
            self.session.run({"a": self.a, "b": self.b}, dict(into, sum=[1]))

    def test_takes_arrays_of_any_layout(self):
        for a in (np.asfortranarray(self.a), self.a.astype(">f4"), np.repeat(self.a, 2, 1)[:, ::2]):
            np.testing.assert_array_equal(self.session.run({"a": a, "b": self.b})["sum"], self.a + self.b)

    def test_refuses_what_does_not_fit(self):
        for pattern, inputs in (
                ("input 'b' is not given", {"a": self.a}),
                ("unknown input 'c'", {"a": self.a, "c": self.b}),
                (r"input 'b' is f64\[2,2\], expected f32\[2,2\]", {"a": self.a, "b": self.b.astype(float)}),
                (r"input 'b' has shape \[4\]|input 'b' is f32\[4\]", {"a": self.a, "b": self.b.ravel()}),
                ("datetime64", {"a": self.a, "b": np.array(["2020-01-01"], "datetime64[D]")}),
                ("element of type dict among its strings", {"a": self.a, "b": {}})):
            with self.assertRaisesRegex(weft.InvalidArgumentError, pattern):
                self.session.run(inputs)
        with self.assertRaisesRegex(weft.InvalidArgumentError, "threads is -1"):
            weft.Session(weft.Model.from_text(SUMS), threads=-1)
        with self.assertRaisesRegex(weft.InvalidArgumentError, "threads is 4294967297"):
            weft.Session(weft.Model.from_text(SUMS), threads=2**32 + 1)
        with self.assertRaisesRegex(weft.InvalidArgumentError, r"b'a\\x00b' has a zero in it"):
            self.session.run({"a\0b": self.a, "b": self.b})
        with self.assertRaisesRegex(TypeError, "a name is a str, found int"):
            self.session.run({1: self.a, "b": self.b})
        with self.assertRaisesRegex(TypeError, "threads_of is a weft.Session or None, found Model"):
            weft.Session(weft.Model.from_text(SUMS), threads_of=weft.Model.from_text(SUMS))
        unknown = weft.Model.from_text(identity("tensor<2xf32>").replace("onnx.Identity", "acme.twice"))
        with self.assertRaisesRegex(weft.UnimplementedError, "acme.twice") as caught:
            weft.Session(unknown).run({"x": np.zeros(2, np.float32)})
        self.assertIsInstance(caught.exception, NotImplementedError)

    def test_knows_of_values_whose_type_nobody_knows(self):
        text = SUMS.replace('"onnx.Sub"', '"acme.sub"').replace('-> tensor<"N"x2xf32>\n ()', '-> tensor<?x?x?>\n ()')
        text = text.replace('() = "builtin.return" (%2, %3) {} : (tensor<"N"x2xf32>, tensor<"N"x2xf32>)',
                            '() = "builtin.return" (%2, %3) {} : (tensor<"N"x2xf32>, tensor<?x?x?>)')
        session = weft.Session(weft.Model.from_text(text))
        self.assertEqual([(y.name, y.dtype) for y in session.outputs], [("sum", "f32"), ("difference", None)])
        self.assertIn("difference", repr(session) + session._repr_html_())
        with self.assertRaisesRegex(weft.UnimplementedError, "acme.sub"):
            session.run({"a": self.a, "b": self.b})

    def test_refuses_names_that_are_none_in_c(self):
        for x, y in (("x\0a", "y"), ("x", "y\0a")):
            relu = onnx.helper.make_node("Relu", [x], [y])
            values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in (x, y)]
            graph = onnx.helper.make_graph([relu], "g", values[:1], values[1:])
            with self.assertRaisesRegex(weft.InvalidArgumentError, "put has a zero in it, behind '[xy]'"):
                weft.Session(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]))

    def test_is_copied_as_itself_and_not_pickled(self):
        same = copy.copy(self.session)
        del self.session
        gc.collect()
        np.testing.assert_array_equal(same.run({"a": self.a, "b": self.b})["sum"], self.a + self.b)
        for refused in (pickle.dumps, copy.deepcopy):
            with self.assertRaisesRegex(TypeError, "a weft.Session cannot be pickled"):
                refused(same)

    # Callbacks are called while the model is in use, for which a session that is freed must not wait.
    def test_is_freed_in_a_callback(self):
        model = weft.Model.from_text(SUMS)
        kept = [weft.Session(model), model.clone()]
        self.assertFalse(model.optimize(progress=lambda *step: kept.clear()) is None)
        session = weft.Session(model)
        kept = [weft.Session(model), model.clone()]
        session.run({"a": self.a, "b": self.b}, stop=lambda: kept.clear() is not None)
        circle = [weft.Session(model)]
        circle.append(circle)
        del circle
        model.optimize(progress=lambda *step: gc.collect())

    def test_is_stopped_and_interrupted(self):
        inputs = {"a": self.a, "b": self.b}
        with self.assertRaises(weft.CancelledError):
            self.session.run(inputs, stop=lambda: True)

        def interrupt():
            os.kill(os.getpid(), signal.SIGINT)
            return False
        with self.assertRaises(KeyboardInterrupt):
            self.session.run(inputs, stop=interrupt)
        np.testing.assert_array_equal(self.session.run(inputs, stop=lambda: False)["sum"], self.a + self.b)

    def test_serves_threads(self):
        wrong = []

        def serve(rows):
            a = np.full((rows, 2), rows, np.float32)
            for _ in range(50):
                y = self.session.run({"a": a, "b": a})
                if not (y["sum"] == 2 * rows).all() or y["difference"].any():
                    wrong.append(rows)
        threads = [threading.Thread(target=serve, args=(rows,)) for rows in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_uses_the_threads_of_another(self):
        first = weft.Session(weft.Model.from_text(RELUS), threads=2, oversubscribe=True)
        other = weft.Session(weft.Model.from_text(RELUS), threads_of=first)
        self.assertEqual(other.threads, 2)
        del first
        x = np.ones((2, 3), np.float32)
        np.testing.assert_array_equal(other.run({"x": x})["y"], x)

    def test_frees_what_it_made(self):
        session = weft.Session(weft.Model.from_text(RELUS), threads=1)
        x = np.ones((1 << 18, 3), np.float32)  # 3 MiB
        session.run({"x": x})
        before = resident()
        for _ in range(200):
            session.run({"x": x})
        self.assertLess(resident() - before, 100 << 20)


class ValuesTest(unittest.TestCase):
    def test_sequences_are_lists_and_an_empty_optional_is_none(self):
        session = weft.Session(weft.Model.from_text(MAKE), threads=1)
        self.assertEqual([(y.is_tensor, y.dtype, y.type) for y in session.outputs],
                         [(False, "f32", "seq<tensor<2xf32>>"), (False, "f32", "optional<tensor<f32>>")])
        y = session.run({"x": np.array([1, 5], np.float32)})
        self.assertEqual(list(y), ["s", "o"])
        self.assertEqual([element.tolist() for element in y["s"]], [[1, 5], [2, 10]])
        self.assertIsNone(y["o"])

    def test_they_are_taken_too(self):
        session = weft.Session(weft.Model.from_text(TAKE), threads=1)
        sequence = [np.array([1, 2], np.float32), np.array([3], np.float32)]
        y = session.run({"s": sequence, "o": None})
        self.assertEqual((y["all"].tolist(), bool(y["has"])), ([1, 2, 3], False))
        y = session.run({"s": sequence, "o": np.float32(7)}, stop=lambda: False)
        self.assertTrue(y["has"])

    def test_that_do_not_fit_are_refused(self):
        session = weft.Session(weft.Model.from_text(TAKE), threads=1)
        with self.assertRaisesRegex(weft.InvalidArgumentError, "input 's', element 1 is f64"):
            session.run({"s": [np.zeros(1, np.float32), np.zeros(1)], "o": None})
        with self.assertRaisesRegex(weft.InvalidArgumentError, "input 'o' is not given"):
            session.run({"s": []})

    def test_have_no_place_in_arrays_of_the_caller(self):
        session = weft.Session(weft.Model.from_text(MAKE), threads=1)
        with self.assertRaisesRegex(weft.UnimplementedError, "'s' is seq"):
            session.run({"x": np.zeros(2, np.float32)}, {"s": np.zeros(2, np.float32)})


class InterruptTest(unittest.TestCase):
    """A run that takes seconds, and ^C when it has begun."""

    @classmethod
    def setUpClass(cls):
        cls.session = weft.Session(weft.Model.from_text(tanhs(2000)), threads=1, provider="reference", pipeline="none")
        cls.session.run({"x": np.ones(4, np.float32)})  # which makes its plan
        cls.x = np.linspace(-1, 1, 1 << 18, dtype=np.float32)

    def setUp(self):
        self.y = np.full_like(self.x, 7)  # the last operation writes it
        self.enough = threading.Event()

    def interrupt_soon(self):
        def interrupt():
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        self.addCleanup(thread.join)
        thread.start()

    def test_ends_a_run(self):
        for outputs in (None, {"y": self.y}):
            with self.assertRaises(KeyboardInterrupt) as caught:
                self.interrupt_soon()
                self.session.run({"x": self.x}, outputs)
            self.assertIsNone(caught.exception.__context__)
        self.assertEqual(set(self.y), {7})  # not even the last operation ran
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        x = np.array([0.5], np.float32)
        self.assertLess(self.session.run({"x": x})["y"][0], 0.5)  # the next one runs

    def test_ends_no_run_of_another_thread(self):
        ended = []

        def run():
            try:
                self.session.run({"x": self.x}, stop=self.enough.is_set)
            except weft.Error as error:
                ended.append(error)
        other = threading.Thread(target=run)
        other.start()
        with self.assertRaises(KeyboardInterrupt):
            self.interrupt_soon()
            self.session.run({"x": self.x})
        time.sleep(0.05)
        self.assertEqual((other.is_alive(), ended), (True, []))
        self.enough.set()
        other.join()
        self.assertIsInstance(ended[0], weft.CancelledError)

    def test_is_left_to_a_handler_of_the_programs(self):
        handled = []
        session = weft.Session(weft.Model.from_text(SUMS), threads=1)
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, lambda *_: handled.append(1)))
        a = np.ones((1 << 16, 2), np.float32)
        self.interrupt_soon()
        while not handled:
            self.assertEqual(session.run({"a": a, "b": a})["sum"][0, 0], 2)


class TypesTest(unittest.TestCase):
    def through(self, type_, x):
        return weft.Session(weft.Model.from_text(identity(type_)), threads=1).run({"x": x})["y"]

    def test_come_through(self):
        for name, dtype in (("f32", np.float32), ("f64", np.float64), ("f16", np.float16), ("bool", np.bool_),
                            ("i8", np.int8), ("i16", np.int16), ("i32", np.int32), ("i64", np.int64),
                            ("u8", np.uint8), ("u16", np.uint16), ("u32", np.uint32), ("u64", np.uint64)):
            x = np.array([0, 1, 77]).astype(dtype)
            y = self.through(f"tensor<3x{name}>", x)
            self.assertEqual(y.dtype, x.dtype)
            np.testing.assert_array_equal(y, x)

    def test_that_numpy_lacks_are_bits(self):
        bits = np.array([0x3F80, 0x4000], np.uint16)  # 1 and 2
        y = self.through("tensor<2xbf16>", bits)
        self.assertEqual(y.dtype, np.uint16)
        np.testing.assert_array_equal(y, bits)

    def test_of_records_are_no_numbers(self):
        for dtype in ([("a", "i1"), ("b", "i1")], "V2"):
            with self.assertRaisesRegex(weft.InvalidArgumentError, "which no tensor is of"):
                self.through("tensor<2xbf16>", np.zeros(2, dtype))

    def test_that_lie_anywhere_in_memory(self):
        x = np.frombuffer(b"xyz" + np.float32([1, 2]).tobytes(), np.float32, offset=3)
        np.testing.assert_array_equal(self.through("tensor<2xf32>", x), x)

    def test_of_strings(self):
        words = ["", "größer", "two\0words"]
        for x in (np.array(words, object), np.array(words), words):
            self.assertEqual(self.through("tensor<3xstring>", x).tolist(), words)
        self.assertEqual(self.through("tensor<1xstring>", np.array([b"\xff"])).tolist(), ["\udcff"])

    def test_scalars_and_empty_arrays(self):
        y = self.through("tensor<f32>", np.float32(3))
        self.assertEqual((y.shape, float(y)), ((), 3.0))
        y = self.through('tensor<"N"x2xf32>', np.zeros((0, 2), np.float32))
        self.assertEqual((y.shape, y.dtype), ((0, 2), np.float32))


class GilTest(unittest.TestCase):
    def test_is_released_while_a_model_runs(self):
        session = weft.Session(BERT, threads=1, provider="reference", pipeline="none")
        inputs = {x.name: np.ones(x.shape, x.numpy_dtype) for x in session.inputs}
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)
        thread = threading.Thread(target=tick)
        thread.start()
        spans = []
        for _ in range(5):
            begin = time.monotonic()
            session.run(inputs)
            spans.append((begin, time.monotonic()))
        done.set()
        thread.join()
        within = sum(begin + 0.002 < tick < end - 0.002 for tick in ticks for begin, end in spans)
        self.assertGreater(within, 3, f"runs of {[end - begin for begin, end in spans]} s")


if __name__ == "__main__":
    unittest.main()
