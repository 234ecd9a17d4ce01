#!/usr/bin/env node
// Does what ir-opt writes of ONNX's own tests still mean the same to ONNX Runtime?
//
//   node exports.js FOLDER... [options]      FOLDER/TEST/{model.onnx,test_data_set_0/input_N.pb}
//
// Each model runs in ONNX Runtime without optimizations, on the inputs that come with it, and so does
// what ir-opt writes of it under each pipeline. Tests that ONNX Runtime does not run are counted and
// left out, those that ir-opt refuses as unsupported (exit 3) counted. Names, types and shapes must be
// the same, values within 1e-5 + 1e-3 |expected|. Prints every difference and refusal, then the
// counts; exit 1 when there is one.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { parseArgs } = require('node:util');
const { OrtSession } = require('./lib/ort');
const { decode } = require('./lib/tensor_proto');

const kUsage = `usage: node exports.js FOLDER... [options]
  --ir-opt PATH       (../../../build/release/bin/ir-opt)
  --pipelines A,B     (simplify,fuse)
  --filter REGEX      tests whose name has a match
  --target-opset N    passed on to ir-opt`;
const kUnsupported = 3;

function parse() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        'ir-opt': { type: 'string', default: path.join(__dirname, '../../../build/release/bin/ir-opt') },
        'pipelines': { type: 'string', default: 'simplify,fuse' },
        'filter': { type: 'string', default: '.' },
        'target-opset': { type: 'string' },
      },
    });
    if (parsed.positionals.length === 0) throw new Error('no folder given');
  } catch (error) {
    console.error(`exports.js: ${error.message}\n${kUsage}`);
    process.exit(2);
  }
  return { ...parsed.values, folders: parsed.positionals };
}

function run(model, inputs) {
  const session = new OrtSession(model, { level: 'disabled', threads: 1 });
  try {
    const given = inputs(session.inputs);
    return session.run(given.filter(({ name }) => session.inputs.some((i) => i.name === name)));
  } finally {
    session.close();
  }
}

function readInputs(folder, described) {
  const number = (file) => Number.parseInt(file.slice('input_'.length), 10);
  return fs.readdirSync(folder).filter((file) => file.startsWith('input_'))
      .sort((a, b) => number(a) - number(b))
      .map((file, i) => {
        return { ...decode(fs.readFileSync(path.join(folder, file))), name: described[i].name };
      });
}

// Empty, or what is wrong.
function difference(expected, actual) {
  if (!actual) return 'is not there';
  const typeOf = ({ type, dims }) => `${type}[${dims}]`;
  if (typeOf(actual) !== typeOf(expected)) return `is ${typeOf(actual)}, not ${typeOf(expected)}`;
  for (let i = 0; i < expected.data.length; i += 1) {
    const e = Number(expected.data[i]);
    const a = Number(actual.data[i]);
    if (Object.is(e, a) || e === a || Math.abs(a - e) <= 1e-5 + 1e-3 * Math.abs(e)) continue;
    return `has ${a} at ${i}, not ${e}`;
  }
  return '';
}

function checkExport(options, model, pipeline, file, inputs, expected) {
  fs.rmSync(file, { force: true });
  const target = options['target-opset'] ? ['--target-opset', options['target-opset']] : [];
  const child = spawnSync(options['ir-opt'], [model, '-o', file, '--pipeline', pipeline, ...target],
                          { encoding: 'utf8' });
  if (child.error) throw child.error;
  if (child.status === kUnsupported) return { kind: 'unsupported by ir-opt' };
  if (child.status !== 0) return { kind: 'FAILED in ir-opt', why: child.stderr.trim() };
  let results;
  try {
    results = run(file, () => inputs);
  } catch (error) {
    return { kind: 'REFUSED by ONNX Runtime', why: error.message };
  }
  for (const e of expected) {
    const why = difference(e, results.find(({ name }) => name === e.name));
    if (why) return { kind: 'DIFFERS', why: `${e.name} ${why}` };
  }
  return { kind: 'equal' };
}

function main() {
  const options = parse();
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-exports-'));
  const filter = new RegExp(options.filter);
  const counts = {};
  const count = (key) => { counts[key] = (counts[key] ?? 0) + 1; };
  let wrong = 0;
  try {
    for (const folder of options.folders) {
      for (const test of fs.readdirSync(folder).filter((name) => filter.test(name)).sort()) {
        const model = path.join(folder, test, 'model.onnx');
        if (!fs.existsSync(model)) continue;
        let inputs;
        let expected;
        try {
          expected = run(model, (described) => {
            inputs = readInputs(path.join(folder, test, 'test_data_set_0'), described);
            return inputs;
          });
        } catch {
          count('original not run by ONNX Runtime');
          continue;
        }
        for (const pipeline of options.pipelines.split(',')) {
          const { kind, why } =
              checkExport(options, model, pipeline, path.join(scratch, 'out.onnx'), inputs, expected);
          count(`${pipeline}: ${kind}`);
          if (!why) continue;
          wrong += 1;
          console.log(`${kind}: ${test}, ${pipeline}: ${why.slice(0, 300)}`);
        }
      }
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  for (const key of Object.keys(counts).sort()) console.log(`${key}: ${counts[key]}`);
  process.exit(wrong ? 1 : 0);
}

main();
