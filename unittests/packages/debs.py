#!/usr/bin/env python3
"""Checks Debian packages: debs.py FOLDER

Exactly the four, of one version; what each holds and depends on, and how large the programs are. Prints a table of sizes."""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIB = "usr/lib/[^/]+-linux-gnu"
DOC = "usr/share/doc/{0}/(copyright|changelog.gz|changelog.Debian.gz)"

# package: regular expressions, which together match its files and each of which matches some
FILES = {
    "weft-tools": ["usr/bin/ir-opt", "usr/bin/ir-run", f"{LIB}/weft/libweft-programs.so",
                   *(f"usr/share/{name.format(program)}" for program in ("ir-opt", "ir-run")
                     for name in ("man/man1/{}.1.gz", "bash-completion/completions/{}", "zsh/vendor-completions/_{}",
                                  "fish/vendor_completions.d/{}.fish")),
                   r"usr/share/doc/weft/schemas/\w+\.json"],
    "libweft0": [rf"{LIB}/libweft\.so\.0", rf"{LIB}/libweft\.so\.0\.\d+\.\d+", "usr/share/lintian/overrides/libweft0"],
    "libweft-dev": [
        r"usr/include/weft/(weft|session|judge|model_options|model_size|plugin|tools|version)\.h",
        r"usr/include/weft/(c_api|c_rules|c_session|c_values)\.h",
        r"usr/include/weft/base/(notices|rule_text)\.h",
        *(rf"usr/include/weft/{part}/.*\.h" for part in ("ir", "drr", "passes", "kernels", "tools/onnx")),
        r"usr/include/weft/unittests/fixtures/.*\.h",
        rf"{LIB}/libweft\.so", rf"{LIB}/libweft_(ir|drr|passes|kernels|onnx|weft|tools|fixtures|z3)\.a",
        rf"{LIB}/cmake/weft/(weft|Find)[\w-]*\.cmake", rf"{LIB}/cmake/weft/plugin_host\.exports",
        rf"{LIB}/pkgconfig/weft(-(ir|drr|passes|kernels|onnx|cxx|tools|plugin|fixtures|z3))?\.pc"],
    "python3-weft": [r"usr/lib/python3/dist-packages/weft/\w+\.py", r"usr/lib/python3/dist-packages/weft/__init__\.pyi",
                     r"usr/lib/python3/dist-packages/weft/py\.typed"],
}
# Files of the tree that a package has all of: where they are, where they go.
COMPLETE = {
    "libweft-dev": [(part, "*.h", f"usr/include/weft/{part}") for part in ("ir", "drr", "passes", "kernels")],
    "weft-tools": [("tools/schemas", "*.json", "usr/share/doc/weft/schemas")],
    "python3-weft": [("tools/python/weft", "*.py", "usr/lib/python3/dist-packages/weft")],
}
NEEDS = {
    "weft-tools": ["libabsl", "libprotobuf", "libxnnpack", "libc6"],
    "libweft0": ["libabsl", "libprotobuf", "libxnnpack", "libc6"],
    "libweft-dev": ["libweft0 (= {version})", "libabsl-dev", "libfmt-dev", "libxnnpack-dev", "libprotobuf-dev"],
    "python3-weft": ["python3 (>=", "python3-numpy", "libweft0 (>="],
}
MEGABYTE = 1_000_000
# In megabytes: of the two programs, with the library that they share, 8 each (g++ 14 of Debian 13 makes 8 % more of the
# same sources than g++ 12); of a .deb; of what it unpacks to.
MAX_PROGRAMS, MAX_DEB, MAX_UNPACKED = {"deb12": 16, "deb13": 17}, 8, 64


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Package:
    def __init__(self, path):
        self.path = path
        fields = run("dpkg-deb", "--field", path, "Package", "Version", "Depends", "Architecture", "Installed-Size")
        self.fields = dict(re.findall(r"^([\w-]+): (.*)$", fields, re.MULTILINE))
        self.name = self.fields["Package"]
        self.modes, self.sizes = {}, {}
        for line in run("dpkg-deb", "--contents", path).splitlines():
            mode, owner, size, _, _, name = line.split(maxsplit=5)
            name = name.split(" -> ")[0].removeprefix("./")
            self.modes[name] = mode, owner
            if not mode.startswith("d"):
                self.sizes[name] = int(size)


def faults_of(package):
    version = package.fields["Version"]
    patterns = [*FILES[package.name], DOC.format(package.name)]
    for name in package.sizes:
        if not any(re.fullmatch(pattern, name) for pattern in patterns):
            yield f"holds {name}"
    for pattern in patterns:
        if not any(re.fullmatch(pattern, name) for name in package.sizes):
            yield f"lacks {pattern}"
    for folder, glob, target in COMPLETE.get(package.name, ()):
        for path in (ROOT / folder).rglob(glob):
            name = f"{target}/{path.relative_to(ROOT / folder)}"
            if name not in package.sizes:
                yield f"lacks {name}"
    for name, (mode, owner) in package.modes.items():
        executable = name.startswith("usr/bin/") and not name.endswith("/")
        expected = "drwxr-xr-x" if mode[0] == "d" else mode if mode[0] == "l" else "-rwxr-xr-x" if executable else "-rw-r--r--"
        if mode != expected or owner != "root/root":
            yield f"{name} is {mode} of {owner}, expected {expected} of root/root"
    for need in NEEDS[package.name]:
        if need.format(version=version) not in package.fields["Depends"]:
            yield f"does not depend on {need.format(version=version)}, but on {package.fields['Depends']}"
    if package.path.stat().st_size > MAX_DEB * MEGABYTE or sum(package.sizes.values()) > MAX_UNPACKED * MEGABYTE:
        yield f"is larger than {MAX_DEB} MB, or {MAX_UNPACKED} MB when it is unpacked"
    if package.name == "weft-tools":
        programs = sum(size for name, size in package.sizes.items() if "/doc/" not in name)
        most = MAX_PROGRAMS.get(version.rpartition("~")[2], max(MAX_PROGRAMS.values()))
        if programs > most * MEGABYTE:
            yield f"its programs have {programs / MEGABYTE:.1f} MB, at most {most} are allowed"


def stripped_faults(package):
    with tempfile.TemporaryDirectory() as folder:
        run("dpkg-deb", "--extract", package.path, folder)
        for name in package.sizes:
            path = pathlib.Path(folder, name)
            if path.is_symlink() or not (name.startswith("usr/bin/") or ".so" in name or name.endswith(".a")):
                continue
            sections = run("readelf", "--sections", "--wide", path)
            if ".debug_" in sections or (not name.endswith(".a") and ".symtab" in sections):
                yield f"{name} is not stripped"
            if name.startswith("usr/bin/"):
                # The library binds what it defines to itself: a program that defined the same would have two of it.
                exported = {line.split(maxsplit=2)[2] for line in run("nm", "-DC", "--defined-only", path).splitlines()}
                ours = {symbol for symbol in exported if "weft::" in symbol} - {"weft::tools::HandleFaults()"}
                if ours:
                    yield f"{name} defines {sorted(ours)[:3]}, which are the library's"
            if name == "usr/bin/ir-run" and "libz3" in run("readelf", "--dynamic", "--wide", path):
                yield f"{name}, which proves nothing, loads the solver"


def main(folder):
    packages = sorted((Package(path) for path in pathlib.Path(folder).glob("*.deb")), key=lambda p: p.name)
    faults = []
    if [p.name for p in packages] != sorted(FILES):
        sys.exit(f"{folder} has {[p.path.name for p in packages]}, expected one package of each: {sorted(FILES)}")
    if len({p.fields["Version"] for p in packages}) != 1:
        faults.append("the packages are of several versions")
    owners = collections.Counter(name for p in packages for name in p.sizes)
    faults += [f"{name} is in {count} packages" for name, count in owners.items() if count > 1]
    print(f"{'package':14} {'version':16} {'.deb, MB':>8} {'unpacked, MB':>12}  files")
    for package in packages:
        print(f"{package.name:14} {package.fields['Version']:16} {package.path.stat().st_size / MEGABYTE:8.2f} "
              f"{sum(package.sizes.values()) / MEGABYTE:12.2f} {len(package.sizes):6}")
        faults += [f"{package.name}: {fault}" for fault in (*faults_of(package), *stripped_faults(package))]
    for name in ("usr/bin/ir-opt", "usr/bin/ir-run"):
        print(f"{name}: {packages[-1].sizes.get(name, 0) / MEGABYTE:.2f} MB")
    for name, size in ((name, size) for p in packages for name, size in p.sizes.items() if ".so" in name and size):
        print(f"{name}: {size / MEGABYTE:.2f} MB")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
