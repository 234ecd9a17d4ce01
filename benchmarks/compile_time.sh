#!/usr/bin/env bash
# What a file with one rule costs to compile: benchmarks/compile_time.sh [RUNS]. CPU seconds (median) and peak MiB of
# benchmarks/compile_time/one_rule.cc, and of the same rule on MLIR where libmlir-22-dev, or an older one, is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
runs=${1:-5}
[[ -x /usr/bin/time ]] || { echo "compile_time.sh: needs GNU time (package time)" >&2; exit 1; }
object=$(mktemp --suffix=.o)
figures=$(mktemp)
trap 'rm -f "$object" "$figures"' EXIT

# Sets `seconds` (median) and `kb` (peak), and prints them.
measure() {  # LABEL COMPILER OPTIMISATION ARG...
  local label=$1 compiler=$2 optimisation=$3
  shift 3
  : >"$figures"
  for ((i = 0; i < runs; ++i)); do
    /usr/bin/time -a -o "$figures" -f '%U %S %M' "$compiler" -std=c++20 "$optimisation" "$@" -c -o "$object"
  done
  seconds=$(awk '{print $1 + $2}' "$figures" | sort -n | sed -n "$(((runs + 1) / 2))p")
  kb=$(awk '{print $3}' "$figures" | sort -n | tail -1)
  printf '%-6s %-12s %-4s %6.2f s %6.0f MiB\n' "$label" "$compiler" "$optimisation" "$seconds" "$((kb / 1024))"
}

mlir=$(printf '%s\n' /usr/lib/llvm-*/include/mlir | sort -V | tail -1)
mlir=${mlir%/mlir}
for compiler in g++ clang++-14; do
  command -v "$compiler" >/dev/null || continue
  for optimisation in -O0 -O2; do
    measure Weft "$compiler" "$optimisation" -I. benchmarks/compile_time/one_rule.cc
    ours=$seconds peak=$kb
    [[ ! -e $mlir/mlir/IR/PatternMatch.h ]] ||
      measure MLIR "$compiler" "$optimisation" -isystem "$mlir" benchmarks/peers/mlir/one_rule.cpp
    [[ $compiler$optimisation == g++-O2 ]] || continue
    awk -v ours="$ours" -v theirs="$seconds" -v kb="$peak" -v mlir="$([[ -e $mlir/mlir/IR/PatternMatch.h ]] && echo 1)" '
      BEGIN {
        if (mlir) printf "  %.2f of MLIR, <= 0.42: %s\n", ours / theirs, ours <= 0.42 * theirs ? "met" : "MISSED"
        printf "  %.0f MB, <= 165: %s\n", kb / 1000, kb <= 165000 ? "met" : "MISSED"
      }'
  done
done
