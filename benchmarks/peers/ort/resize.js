#!/usr/bin/env node
// Does ir-run resample as ONNX Runtime does?
//
//   node resize.js [options]
//
// Random cases of every mode of ONNX's Resize with every way to choose coordinates, neighbours, sizes
// and filters: a program of one operation, written as ONNX by ir-opt, runs in both. Cases that ONNX
// Runtime refuses are counted. Prints every difference of shape or value (beyond 1e-5 of the largest
// element) with its settings, then the counts; exit 1 when there is one.
//
// Where ONNX Runtime departs from the standard is in kDepartures, and not counted as a difference. Left
// out is tf_crop_and_resize by scales, for ONNX Runtime does not shrink the result as the crop does.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { parseArgs } = require('node:util');
const { runOnce } = require('./lib/ir_run');
const { OrtSession } = require('./lib/ort');
const { largestDifference, randomInputs, uniform } = require('./lib/tensors');

const kUsage = `usage: node resize.js [options]
  --bin DIR     of ir-opt and ir-run (../../../build/release/bin)
  --seed N      of the cases (1)
  --cases N     (600)
  --only N      this case, with its program`;
const kBound = 1e-5;

const kModes = ['nearest', 'linear', 'cubic'];
const kCoordinates = ['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric',
  'tf_crop_and_resize', 'half_pixel_symmetric'];
const kNearest = ['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'];
const kPolicies = ['stretch', 'not_larger', 'not_smaller'];

const kDepartures = [
  {
    what: 'copies x where the result has the shape of x, whatever the scales',
    when: (s) => keptAxes(s).length === s.dims.length,
  },
  {
    what: 'filters no axis whose size stays, whatever its scale',
    when: (s) => s.antialias && keptAxes(s).some((axis) => scaleOf(s, axis) !== 1),
  },
  {
    what: 'misses the middle of x, where half_pixel_symmetric puts that of the result, by a rounding',
    when: (s) => s.mode === 'nearest' && s.coordinates === 'half_pixel_symmetric' && hasTies(s),
  },
  {
    what: 'crops no axis whose size stays',
    when: (s) => s.roi && s.sizes.some((size, i) => isMoved(s, i) && size === s.dims[axisOf(s, i)]),
  },
  {
    what: 'takes no negative axis where the aspect ratio is kept',
    when: (s) => s.policy !== 'stretch' && s.axes[0] < 0,
  },
];

// The dimension of x that entry i of scales or sizes is about.
function axisOf({ axes }, i) {
  return axes ? (axes[i] + 4) % 4 : i;
}
function isMoved(s, i) {
  return axisOf(s, i) > 1;
}

// By how much dimension `axis` of x grows, where scales or the aspect ratio say.
function scaleOf(s, axis) {
  const entry = s.dims.findIndex((_, i) => axisOf(s, i) === axis);
  if (entry < 0) return 1;
  if (s.scales) return s.scales[entry];
  const ratios = s.sizes.map((size, i) => size / s.dims[axisOf(s, i)]);
  return s.policy === 'not_larger' ? Math.min(...ratios) : Math.max(...ratios);
}

// The size of dimension `axis` of the result.
function sizeOf(s, axis) {
  if (s.scales) return Math.floor(Math.fround(s.dims[axis] * Math.fround(scaleOf(s, axis))));
  if (s.policy !== 'stretch') return Math.floor(s.dims[axis] * scaleOf(s, axis) + 0.5);
  const entry = s.dims.findIndex((_, i) => axisOf(s, i) === axis);
  return entry < 0 ? s.dims[axis] : s.sizes[entry];
}

// Whether an element of the result lies, but for roundings, between two of x or on one of x, where
// half_pixel_symmetric places it: what f32 makes of that is a matter of luck.
function hasTies(s) {
  return [2, 3].some((axis) => {
    const dim = s.dims[axis];
    const size = sizeOf(s, axis);
    const scale = s.sizes && s.policy === 'stretch' ? size / dim : scaleOf(s, axis);
    const offset = (dim / 2) * (1 - size / (scale * dim));
    return Array.from({ length: size }, (_, x) => 2 * (offset + (x + 0.5) / scale - 0.5))
        .some((x) => Math.abs(x - Math.round(x)) < 1e-5);
  });
}

// The dimensions of x that are those of the result, whatever the scale.
function keptAxes(s) {
  if (!s.scales && s.policy === 'stretch') return [];
  return [0, 1, 2, 3].filter((axis) => sizeOf(s, axis) === s.dims[axis]);
}

function parse() {
  let parsed;
  try {
    parsed = parseArgs({
      options: {
        'bin': { type: 'string', default: path.join(__dirname, '../../../build/release/bin') },
        'seed': { type: 'string', default: '1' },
        'cases': { type: 'string', default: '600' },
        'only': { type: 'string' },
      },
    });
  } catch (error) {
    console.error(`resize.js: ${error.message}\n${kUsage}`);
    process.exit(2);
  }
  return parsed.values;
}

// A case: the settings of one Resize of an image [1, 2, h, w].
function makeCase(next) {
  const below = (n) => Math.floor(next() * n);
  const pick = (list) => list[below(list.length)];
  const mode = pick(kModes);
  const dims = [1, 2, 1 + below(9), 1 + below(9)];
  const settings = {
    mode,
    dims,
    coordinates: pick(kCoordinates),
    nearest: pick(kNearest),
    antialias: mode !== 'nearest' && next() < 0.3 ? 1 : 0,
    exclude: mode === 'cubic' && next() < 0.5 ? 1 : 0,
    cubicA: pick([-0.75, -0.5]),
    extrapolation: pick([-1.5, 2.5]),
    policy: 'stretch',
    axes: next() < 0.3 ? pick([[2, 3], [3, 2], [-1, -2]]) : null,
  };
  const resized = settings.axes ?? [0, 1, 2, 3];
  const moves = (axis) => (axis + 4) % 4 > 1;
  if (next() < 0.5 && settings.coordinates !== 'tf_crop_and_resize') {
    settings.scales = resized.map((axis) => (moves(axis) ? (20 + below(280)) / 100 : 1));
  } else {
    settings.sizes = resized.map((axis) => (moves(axis) ? 1 + below(16) : dims[axis]));
    if (settings.axes) settings.policy = pick(kPolicies);
  }
  if (settings.coordinates === 'tf_crop_and_resize') {
    // No round numbers: ONNX Runtime computes in f32, where halves are missed by a hair.
    const starts = resized.map((axis) => (moves(axis) ? next() / 2 : 0));
    const ends = resized.map((axis, i) => (moves(axis) ? starts[i] + 0.1 + next() : 1));
    settings.roi = [...starts, ...ends];
  }
  return settings;
}

function programOf(s) {
  const number = (x) => (Number.isInteger(x) ? `${x}.0` : `${x}`);
  const vector = (list, type, print) => {
    return list ? `dense<tensor<${list.length}x${type}>, [${list.map(print).join(',')}]>`
      : `dense<tensor<0x${type}>, []>`;
  };
  const constant = (name, value, type) => {
    return ` (${name}) = "builtin.constant" () {value:${value}} : () -> ${type}`;
  };
  const type = `tensor<${s.dims.join('x')}xf32>`;
  const size = (list, element) => `tensor<${list.length}x${element}>`;
  const lines = [`module {input_names:strings["x"],output_names:strings["y"]} (%0: ${type}) {`];
  const operands = ['%0'];
  const types = [type];
  for (const [name, list, element, print] of [['%1', s.roi, 'f32', number],
    ['%2', s.scales, 'f32', number], ['%3', s.sizes, 'i64', String]]) {
    operands.push(list ? name : '<<NULL VALUE>>');
    types.push(list ? size(list, element) : '<<NULL TYPE>>');
    if (list) lines.push(constant(name, vector(list, element, print), size(list, element)));
  }
  const attributes = [
    `antialias:${s.antialias}`, ...(s.axes ? [`axes:array[${s.axes}]`] : []),
    `coordinate_transformation_mode:"${s.coordinates}"`, `cubic_coeff_a:${s.cubicA}`,
    `exclude_outside:${s.exclude}`, `extrapolation_value:${number(s.extrapolation)}`,
    `keep_aspect_ratio_policy:"${s.policy}"`, `mode:"${s.mode}"`, `nearest_mode:"${s.nearest}"`,
  ];
  lines.push(` (%4) = "onnx.Resize" (${operands.join(', ')}) {${attributes.join(',')}} : ` +
             `(${types.join(', ')}) -> tensor<*xf32>`);
  lines.push(' () = "builtin.return" (%4) {} : (tensor<*xf32>) ->', '}', '');
  return lines.join('\n');
}

// What one case comes to: [kind, why].
function check(options, settings, folder) {
  const program = path.join(folder, 'case.ir');
  const model = path.join(folder, 'case.onnx');
  fs.writeFileSync(program, programOf(settings));
  fs.rmSync(model, { force: true });
  const child = spawnSync(path.join(options.bin, 'ir-opt'),
                          [program, '-o', model, '--pipeline', 'none', '--target-opset', '19'],
                          { encoding: 'utf8' });
  if (child.status !== 0) return ['NOT WRITTEN', child.stderr.trim()];
  const inputs = randomInputs([{ name: 'x', type: 'float32', shape: settings.dims }], 7);
  let expected;
  try {
    const session = new OrtSession(model, { level: 'disabled', threads: 1 });
    try {
      expected = session.run(inputs);
    } finally {
      session.close();
    }
  } catch (error) {
    return ['refused by ONNX Runtime', error.message];
  }
  try {
    const actual = runOnce(path.join(options.bin, 'ir-run'), model, 'none', 1, inputs, expected);
    const difference = largestDifference(actual, expected);
    return difference <= kBound ? ['equal'] : ['DIFFERS', difference.toExponential(1)];
  } catch (error) {
    return ['DIFFERS', error.message];
  }
}

function main() {
  const options = parse();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-resize-'));
  const next = uniform(Number(options.seed));
  const counts = {};
  let wrong = 0;
  try {
    for (let i = 0; i < Number(options.cases); i += 1) {
      const settings = makeCase(next);
      if (options.only !== undefined && i !== Number(options.only)) continue;
      if (options.only !== undefined) console.log(programOf(settings));
      let [kind, why] = check(options, settings, folder);
      const departure = kind === 'DIFFERS' && kDepartures.find(({ when }) => when(settings));
      if (departure) kind = `ONNX Runtime ${departure.what}`;
      counts[kind] = (counts[kind] ?? 0) + 1;
      if (kind.toUpperCase() !== kind && options.only === undefined) continue;
      wrong += kind.toUpperCase() === kind ? 1 : 0;
      console.log(`case ${i} ${kind}: ${why ?? ''} ${JSON.stringify(settings)}`);
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  for (const key of Object.keys(counts).sort()) console.log(`${key}: ${counts[key]}`);
  process.exit(wrong ? 1 : 0);
}

main();
