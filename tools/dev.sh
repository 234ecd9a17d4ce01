#!/usr/bin/env bash
# The developer's loop, on build/release.
#   tools/dev.sh build [TARGET...]   configure and build
#   tools/dev.sh test [CTEST ARG...] build and test, e.g. test -R passes/
#   tools/dev.sh fix                 clang-format every source
#   tools/dev.sh bless [CTEST ARG...] run the tests so that golden tests rewrite what they expect; read the diff
#   tools/dev.sh bench [NAME...]     build and run the benchmarks (all, or those named)
#   tools/dev.sh bench-mlir [--quick] [--callgrind]  rewriting next to MLIR 16 (libmlir-16-dev llvm-16-dev mlir-16-tools)
#   tools/dev.sh bench-compile       what a file with one rule costs to compile
#   tools/dev.sh format-check        clang-format as tools/check --full runs it
#   tools/dev.sh tidy [PATH...]      clang-tidy over what ships, or what is below the paths
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources() { find ir drr passes kernels tools unittests benchmarks \( -name '*.h' -o -name '*.cc' -o -name '*.inc' \) -print0 | sort -z; }
tool() { command -v "$1-14" || command -v "$1"; }  # Debian's 14 decides, where it is installed

command=${1-}
shift || true
case "$command" in
  build) ./tools/build.sh release "$@" ;;
  test)
    ./tools/build.sh release
    ctest --preset release -j "$(nproc)" "$@"
    ;;
  fix) sources | xargs -0 -r "$(tool clang-format)" -i ;;
  bless)
    ./tools/build.sh release
    WEFT_BLESS=1 ctest --preset release -j "$(nproc)" "$@"
    git --no-pager diff --stat -- unittests || true
    ;;
  bench)
    names=("$@")
    if ((${#names[@]} == 0)); then
      for source in benchmarks/*.cc; do
        [[ -e $source ]] && names+=("$(basename "$source" .cc)")
      done
    fi
    ((${#names[@]})) || { echo "dev.sh: no benchmarks/*.cc yet" >&2; exit 1; }
    ./tools/build.sh release "${names[@]/#/bench_}"
    for name in "${names[@]}"; do "build/release/bin/bench_$name"; done
    ;;
  bench-mlir)
    peer=build/mlir
    [[ -e /usr/lib/llvm-16/lib/libMLIRTransforms.a ]] ||
      { echo "dev.sh: bench-mlir needs libmlir-16-dev, llvm-16-dev and mlir-16-tools" >&2; exit 1; }
    ./tools/build.sh release bench_rewriting
    cmake -G Ninja -S benchmarks/peers/mlir -B "$peer" >/dev/null
    cmake --build "$peer"
    benchmarks/peers/mlir/compare.py --weft build/release/bin/bench_rewriting --mlir "$peer/mlirbench" "$@"
    ;;
  bench-compile) benchmarks/compile_time.sh "$@" ;;
  format-check) sources | xargs -0 -r "$(tool clang-format)" --dry-run -Werror ;;
  tidy)
    # clang-tidy reads clang's flags, and the headers that configuring writes.
    [[ -e build/clang/compile_commands.json ]] || cmake --preset clang >/dev/null
    ./tools/tidy "$@"
    ;;
  *)
    sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
    exit 2
    ;;
esac
