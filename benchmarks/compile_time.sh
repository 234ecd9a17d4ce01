#!/usr/bin/env bash
# What a file with one rule costs to compile: benchmarks/compile_time.sh [RUNS]. CPU seconds (median) and peak MiB of
# passes/canonicalize/compose_transposes.cc, and of the same rule on MLIR 16 where libmlir-16-dev is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
runs=${1:-5}
[[ -x /usr/bin/time ]] || { echo "compile_time.sh: needs GNU time (package time)" >&2; exit 1; }
object=$(mktemp --suffix=.o)
figures=$(mktemp)
trap 'rm -f "$object" "$figures"' EXIT

measure() {  # LABEL COMPILER OPTIMISATION TARGET ARG...
  local label=$1 compiler=$2 optimisation=$3 target=$4
  shift 4
  : >"$figures"
  for ((i = 0; i < runs; ++i)); do
    /usr/bin/time -a -o "$figures" -f '%U %S %M' "$compiler" -std=c++20 "$optimisation" "$@" -c -o "$object"
  done
  sort -n "$figures" | awk -v label="$label" -v compiler="$compiler" -v o="$optimisation" -v target="$target" '
    { seconds[NR] = $1 + $2; if ($3 > kb) kb = $3 }
    END {
      insertion_sort(seconds, NR); s = seconds[int((NR + 1) / 2)]; mib = kb / 1024
      verdict = target == "" ? "" : sprintf("%s: %s", target, s <= 1.0 && kb <= 180000 ? "met" : "MISSED")
      printf "%-6s %-12s %-4s %6.2f s %6.0f MiB  %s\n", label, compiler, o, s, mib, verdict
    }
    function insertion_sort(a, n,   i, j, t) {
      for (i = 2; i <= n; ++i) for (j = i; j > 1 && a[j] < a[j - 1]; --j) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
    }'
}

mlir=/usr/lib/llvm-16/include
for compiler in g++ clang++-14; do
  command -v "$compiler" >/dev/null || continue
  for optimisation in -O0 -O2; do
    target=
    [[ $compiler$optimisation != g++-O2 ]] || target="<= 1.0 s, <= 180 MB"
    measure Weft "$compiler" "$optimisation" "$target" -I. passes/canonicalize/compose_transposes.cc
    [[ ! -e $mlir/mlir/IR/PatternMatch.h ]] ||
      measure MLIR "$compiler" "$optimisation" "" -isystem "$mlir" benchmarks/peers/mlir/one_rule.cpp
  done
done
