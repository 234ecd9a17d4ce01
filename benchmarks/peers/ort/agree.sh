#!/usr/bin/env bash
# Exports every model with ir-opt (simplify, fuse, that inlined, ort) and compares ONNX Runtime on the exports and
# ir-run on the model, unfused and fused, with ONNX Runtime on the original. Prints a Markdown table; exit 1 when a row fails.
#   benchmarks/peers/ort/agree.sh [--models DIR] [--bin DIR] [--seed N] [--torch] [--keep DIR] [MODEL...]
# --torch takes torch's inputs and outputs (DIR/ref/MODEL) in place of random inputs; --keep DIR leaves the exports in DIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
models=$root/build/models bin=$root/build/release/bin seed=1 torch='' keep=''

usage() {
  sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}
names=()
while (($#)); do
  case $1 in
    --models) models=${2:?--models needs a folder} && shift 2 ;;
    --bin) bin=${2:?--bin needs a folder} && shift 2 ;;
    --seed) seed=${2:?--seed needs a number} && shift 2 ;;
    --keep) keep=${2:?--keep needs a folder} && shift 2 ;;
    --torch) torch=yes && shift ;;
    -h | --help) usage && exit 0 ;;
    -*) echo "agree.sh: unknown option $1" >&2 && usage >&2 && exit 2 ;;
    *) names+=("$1") && shift ;;
  esac
done
if ((${#names[@]} == 0)); then
  for file in "$models"/*.onnx; do
    [[ -e $file ]] || { echo "agree.sh: no models in $models; run benchmarks/models/export.py" >&2 && exit 2; }
    names+=("$(basename "$file" .onnx)")
  done
fi
for program in ir-opt ir-run; do
  [[ -x $bin/$program ]] || { echo "agree.sh: no $bin/$program; build it or give --bin" >&2 && exit 2; }
done
[[ -d $here/node_modules ]] || (cd "$here" && npm ci --no-progress >&2)

out=${keep:-$(mktemp -d)}
mkdir -p "$out"
[[ -n $keep ]] || trap 'rm -rf "$out"' EXIT

# A failed export is told here; agree.js then reports that the file does not load.
export_variant() { # model label option...
  local model=$1 label=$2
  shift 2
  local file
  file=$out/$(basename "$model" .onnx).$label.onnx
  rm -f "$file"
  local code=0
  "$bin/ir-opt" "$model" -o "$file" "$@" 2>"$file.log" || code=$?
  ((code == 0)) || echo "$(basename "$model"), ir-opt $*: exit $code: $(tail -c 400 "$file.log")" >&2
  variants+=("$label=$file")
}

status=0
echo "| model |${torch:+ original |} simplify | fuse | fuse, inlined | ort | ir-run none | ir-run fuse | |"
echo "|---|${torch:+---|}---|---|---|---|---|---|---|"
for name in "${names[@]}"; do
  model=$models/$name.onnx variants=()
  options=(--ir-run "$bin/ir-run" --seed "$seed" --row)
  export_variant "$model" simplify --pipeline simplify
  export_variant "$model" fuse --pipeline fuse
  export_variant "$model" inline --pipeline fuse --export inline
  export_variant "$model" ort --export ort
  if [[ $torch ]]; then
    options+=(--reference "$models/ref/$name")
  fi
  node "$here/agree.js" "$model" "${variants[@]}" "${options[@]}" || status=1
  [[ -n $keep ]] || rm -f "$out"/*
done
exit $status
