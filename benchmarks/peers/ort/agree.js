#!/usr/bin/env node
// Does a model still mean the same after ir-opt, and does ir-run compute it?
//
//   node agree.js MODEL.onnx [LABEL=EXPORTED.onnx]... [options]
//
// Runs MODEL in ONNX Runtime without optimizations, then every exported variant in ONNX Runtime at
// its highest level, then (with --ir-run) MODEL in ir-run unfused (--pipeline none) and fused
// (--pipeline fuse), all on the same random inputs: floats normal, integers 0 or 1. Prints the
// largest difference of each, relative to the largest magnitude of that output. Names, types and
// shapes of outputs must be the same. Exit 1 when anything fails or differs by more than the bound,
// 2 on bad usage or when MODEL itself does not run in ONNX Runtime.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { runOnce } = require('./lib/ir_run');
const { OrtSession } = require('./lib/ort');
const { arrayOf } = require('./lib/tensor_proto');
const { largestDifference, randomInputs } = require('./lib/tensors');

const kUsage = `usage: node agree.js MODEL.onnx [LABEL=EXPORTED.onnx]... [options]
  --ir-run PATH     also run MODEL in this ir-run, --pipeline none and fuse
  --seed N          seed of the inputs (1)
  --dim NAME=N      size of a symbolic dimension of the inputs
  --reference DIR   take torch's inputs and outputs in DIR (ref/NAME of export.py) instead
  --bound X         largest difference allowed (5e-6)
  --threads N       threads for every runtime (2)
  --row             print one row of a Markdown table instead of a line each`;

function fail(message) {
  console.error(`agree.js: ${message}\n${kUsage}`);
  process.exit(2);
}

function parse() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        'ir-run': { type: 'string' },
        'seed': { type: 'string', default: '1' },
        'dim': { type: 'string', multiple: true, default: [] },
        'reference': { type: 'string' },
        'bound': { type: 'string', default: '5e-6' },
        'threads': { type: 'string', default: '2' },
        'row': { type: 'boolean', default: false },
        'help': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    fail(error.message);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(kUsage);
    process.exit(0);
  }
  const [model, ...variants] = positionals;
  if (!model) fail('no model given');
  const numbers = Object.fromEntries(['seed', 'bound', 'threads'].map((key) => {
    if (!(Number(values[key]) > 0)) fail(`--${key} ${values[key]} is not a positive number`);
    return [key, Number(values[key])];
  }));
  const pair = (text) => {
    const at = text.indexOf('=');
    if (at <= 0) fail(`${text} is not of the form NAME=VALUE`);
    return [text.slice(0, at), text.slice(at + 1)];
  };
  const dims = Object.fromEntries(values.dim.map(pair).map(([name, size]) => [name, Number(size)]));
  return { ...values, ...numbers, dims, model, variants: variants.map(pair) };
}

// Raw little-endian files that export.py wrote; `outputs` give names, types and static shapes.
function readRaw(folder, prefix, described) {
  return described.map(({ name, type, shape }, i) => {
    const bytes = fs.readFileSync(path.join(folder, `${prefix(name, i)}.bin`));
    const data = new (arrayOf(type))(new Uint8Array(bytes).buffer);
    return { name, type, dims: shape, data };
  });
}

function inOrt(file, level, threads, inputs) {
  const session = new OrtSession(file, { level, threads });
  try {
    return { ...session, results: session.run(inputs(session)) };
  } finally {
    session.close();
  }
}

// [label, thunk giving outputs] for everything to be compared with the original.
function contenders(options, original, inputs) {
  const list = options.variants.map(([label, file]) => {
    return [label, () => inOrt(file, 'all', options.threads, () => inputs).results];
  });
  if (options['ir-run']) {
    for (const pipeline of ['none', 'fuse']) {
      list.push([`ir-run ${pipeline}`, () => {
        return runOnce(options['ir-run'], options.model, pipeline, options.threads, inputs,
                       original.outputs);
      }]);
    }
  }
  return list;
}

function main() {
  const options = parse();
  const inputs = (session) => {
    if (!options.reference) return randomInputs(session.inputs, options.seed, options.dims);
    return readRaw(options.reference, (name) => `in_${name}`, session.inputs);
  };
  let given;
  const original = inOrt(options.model, 'disabled', options.threads, (session) => {
    given = inputs(session);
    return given;
  });
  let expected = original.results;
  const list = contenders(options, original, given);
  if (options.reference) {
    expected = readRaw(options.reference, (_, i) => `out_${i}`, original.outputs);
    list.unshift(['original', () => original.results]);
  }
  if (list.length === 0) fail('nothing to compare: give variants or --ir-run');

  const rows = list.map(([label, outputs]) => {
    try {
      const difference = largestDifference(outputs(), expected);
      return { label, text: difference.toExponential(1), ok: difference <= options.bound };
    } catch (error) {
      return { label, text: 'error', ok: false, error: error.message };
    }
  });
  const name = path.basename(options.model, '.onnx');
  const ok = rows.every((row) => row.ok);
  if (options.row) {
    const cells = rows.map((row) => (row.ok ? row.text : `**${row.text}**`));
    console.log(`| ${[name, ...cells, ok ? 'agrees' : '**FAILS**'].join(' | ')} |`);
  } else {
    for (const row of rows) {
      const verdict = row.ok ? 'ok' : 'FAILED';
      console.log(`${name}  ${row.label.padEnd(16)} ${row.text.padStart(8)}  ${verdict}`);
    }
  }
  for (const row of rows) if (row.error) console.error(`${name}, ${row.label}: ${row.error}`);
  process.exitCode = ok ? 0 : 1;
}

try {
  main();
} catch (error) {
  console.error(`agree.js: ${error.message}`);
  process.exitCode = 2;
}
