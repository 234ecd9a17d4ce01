"""A model of more than 2 GiB, by path: its file is full of holes, and nothing reads what it does not need."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

ROWS, COLUMNS = 4_400_000, 128
BYTES = 4 * ROWS * COLUMNS  # 2.25 GB

# In a process of its own, whose peak of memory it tells.
WORK = r"""
import re, sys, numpy as np, weft
path, last = sys.argv[1], int(sys.argv[2])
result = weft.optimize(path, "fuse", check=1)
print("operations", result.ops_before, result.ops_after)
print("parameters", result.size_after["parameters"])
print("difference", result.report["outputs"][0]["difference"])
print("rows", *weft.Session(result.model, pipeline="none").run({"ids": np.array([0, last])})["y"][:, 0])
print("optimised rows", *weft.Session(path).run({"ids": np.array([last, 0])})["y"][:, 0])
try:
    result.model.to_bytes()
except weft.Error as error:
    print("bytes", error)
print("peak", re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1])
"""


def save(folder):
    """y = relu(table[ids]): a table in a file of its own, of which only the ends are written."""
    data = folder / "table.bin"
    with open(data, "wb") as file:
        file.truncate(BYTES)
        file.write(np.arange(1, COLUMNS + 1, dtype=np.float32).tobytes())
        file.seek(BYTES - 4 * COLUMNS)
        file.write(np.arange(501, COLUMNS + 501, dtype=np.float32).tobytes())
    table = TensorProto(name="table", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS],
                        data_location=TensorProto.EXTERNAL)
    for key, value in (("location", data.name), ("offset", "0"), ("length", str(BYTES))):
        table.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["rows"]), helper.make_node("Identity", ["rows"], ["same"]),
         helper.make_node("Relu", ["same"], ["y"])], "lookup",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["N"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", COLUMNS])], [table])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "model.onnx")
    return data


class LargeModelTest(unittest.TestCase):
    def test_is_optimised_and_run_by_path_and_stays_in_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            data = save(pathlib.Path(folder)).stat()
            self.assertGreater(data.st_size, 1 << 31)
            if data.st_blocks * 512 > 1 << 20:
                self.skipTest(f"{folder} is on a file system without holes")
            done = subprocess.run([sys.executable, "-c", WORK, f"{folder}/model.onnx", str(ROWS - 1)],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        *lines, peak = done.stdout.splitlines()
        self.assertEqual(lines[:-1], ["operations 5 4", f"parameters {ROWS * COLUMNS}", "difference 0.0",
                                      "rows 1.0 501.0", "optimised rows 501.0 1.0"])
        self.assertRegex(lines[-1], "^bytes a model of 22528.* bytes, which is written to a file only")
        self.assertLess(int(peak.split()[1]) << 10, 256 << 20)


if __name__ == "__main__":
    unittest.main()
