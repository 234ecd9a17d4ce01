"""pip install --no-build-isolation ./tools/python: the module with libweft.so in it.

The library is that of $WEFT_LIBRARY, else that of build/release, which is built first when it is not there."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1] if len(FOLDER.parents) > 1 else FOLDER

if ROOT / "tools" / "python" != FOLDER or not (ROOT / "weft" / "c_api.h").exists():
    raise SystemExit(f"weft: {FOLDER} must be tools/python of Weft's tree, whose version and library it takes: "
                     "pip install --no-build-isolation TREE/tools/python")


def library():
    if os.environ.get("WEFT_LIBRARY"):
        return pathlib.Path(os.environ["WEFT_LIBRARY"])
    built = ROOT / "build" / "release" / "libweft.so"
    if not built.exists():
        subprocess.run([ROOT / "tools" / "scripts" / "build.sh", "release", "weft_c"], check=True)
    return built


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(weft VERSION (\S+)", text, re.MULTILINE).group(1)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib, "weft", "libweft.so.0")
        shutil.copyfile(library().resolve(), target)
        subprocess.run(["strip", "--strip-unneeded", target], check=True)


class WheelOfAnyPython(bdist_wheel):
    """Of this platform, but of no version of Python: ctypes calls C."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


BUILD = ROOT / "build" / "python"
BUILD.mkdir(parents=True, exist_ok=True)

setup(
    name="weft",
    options={"build": {"build_base": str(BUILD)}, "egg_info": {"egg_base": str(BUILD)}},
    version=version(),
    description="Optimises ONNX models and runs them",
    packages=["weft"],
    package_data={"weft": ["py.typed", "*.pyi"]},
    python_requires=">=3.10",
    install_requires=["numpy"],
    extras_require={"onnx": ["onnx"]},
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfAnyPython},
)
