#!/usr/bin/env node
// Does what ir-opt writes of ONNX's own tests still mean the same to ONNX Runtime?
//
//   node exports.js FOLDER... [options]      FOLDER/TEST/{model.onnx,test_data_set_0/input_N.pb}
//
// Each model runs in ONNX Runtime without optimizations, on the inputs that come with it, and so does
// what ir-opt writes of it under each pipeline. Tests that ONNX Runtime does not run are counted and
// left out, those that ir-opt refuses as unsupported (exit 3) counted. Names, types and shapes must be
// the same, values within 1e-5 + 1e-3 |expected| (2e-3 for float16, two of its roundings). Prints every
// difference and refusal, then the counts; exit 1 when there is one. ONNX Runtime aborts on some
// models, so tests run in a child process, which is replaced when it ends.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { fork, spawnSync } = require('node:child_process');
const { parseArgs } = require('node:util');
const { OrtSession } = require('./lib/ort');
const { decode, numberOfHalf } = require('./lib/tensor_proto');

const kUsage = `usage: node exports.js FOLDER... [options]
  --ir-opt PATH       (../../../build/release/bin/ir-opt)
  --pipelines A,B     (simplify,fuse); of ort the form is ort, too
  --filter REGEX      tests whose name has a match
  --target-opset N    passed on to ir-opt`;
const kUnsupported = 3;
const kOriginal = 'original';
const kNotRun = 'not run by ONNX Runtime';
const kRefused = 'REFUSED by ONNX Runtime';
const kServe = '--serve';  // the child's command line ends in this and the scratch folder

function parse(args) {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        'ir-opt': { type: 'string', default: path.join(__dirname, '../../../build/release/bin/ir-opt') },
        'pipelines': { type: 'string', default: 'simplify,fuse' },
        'filter': { type: 'string', default: '.' },
        'target-opset': { type: 'string' },
      },
    });
    if (parsed.positionals.length === 0) throw new Error('no folder given');
    const irOpt = parsed.values['ir-opt'];
    if (!fs.existsSync(irOpt)) throw new Error(`${irOpt}: not there (tools/scripts/build.sh release ir-opt)`);
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
  const half = expected.type === 'float16';
  const number = half ? numberOfHalf : Number;
  const relative = half ? 2e-3 : 1e-3;
  for (let i = 0; i < expected.data.length; i += 1) {
    const e = number(expected.data[i]);
    const a = number(actual.data[i]);
    if (Object.is(e, a) || e === a || Math.abs(a - e) <= 1e-5 + relative * Math.abs(e)) continue;
    return `has ${a} at ${i}, not ${e}`;
  }
  return '';
}

function checkExport(options, model, pipeline, file, inputs, expected) {
  fs.rmSync(file, { force: true });
  const target = options['target-opset'] ? ['--target-opset', options['target-opset']] : [];
  if (pipeline === 'ort') target.push('--export', 'ort');
  const child = spawnSync(options['ir-opt'], [model, '-o', file, '--pipeline', pipeline, ...target],
                          { encoding: 'utf8' });
  if (child.error) throw child.error;
  if (child.status === kUnsupported) return { kind: 'unsupported by ir-opt' };
  if (child.status !== 0) return { kind: 'FAILED in ir-opt', why: child.stderr.trim() };
  let results;
  try {
    results = run(file, () => inputs);
  } catch (error) {
    return { kind: kRefused, why: error.message };
  }
  for (const e of expected) {
    const why = difference(e, results.find(({ name }) => name === e.name));
    if (why) return { kind: 'DIFFERS', why: `${e.name} ${why}` };
  }
  return { kind: 'equal' };
}

// The child's part: one test per message. Says what it begins, "original" or a pipeline, and what came of it.
async function serve(options) {
  const scratch = process.argv.at(-1);
  const say = (message) => new Promise((resolve) => process.send(message, resolve));
  process.on('message', async (folder) => {
    const model = path.join(folder, 'model.onnx');
    let inputs;
    let expected;
    await say({ begins: kOriginal });
    try {
      expected = run(model, (described) => {
        inputs = readInputs(path.join(folder, 'test_data_set_0'), described);
        return inputs;
      });
    } catch {
      await say({ of: kOriginal, kind: kNotRun });
    }
    for (const pipeline of expected ? options.pipelines.split(',') : []) {
      await say({ begins: pipeline });
      const file = path.join(scratch, 'out.onnx');
      await say({ of: pipeline, ...checkExport(options, model, pipeline, file, inputs, expected) });
    }
    await say({ done: true });
  });
}

// Runs every folder in a child; report({ folder, of, kind, why }) per outcome. A pipeline after the one in
// which the child ended is not looked at.
function runAll(folders, scratch, report) {
  return new Promise((resolve) => {
    let child;
    let stage;
    const next = () => {
      if (folders.length === 0) {
        child?.disconnect();
        resolve();
        return;
      }
      child ??= start();
      stage = kOriginal;
      child.send(folders[0]);
    };
    const start = () => {
      const worker = fork(__filename, [...process.argv.slice(2), kServe, scratch], { silent: true });
      worker.on('message', ({ begins, done, ...outcome }) => {
        if (begins) {
          stage = begins;
        } else if (done) {
          folders.shift();
          next();
        } else {
          report({ folder: folders[0], ...outcome });
        }
      });
      worker.on('exit', (_, signal) => {
        if (folders.length === 0) return;
        const folder = folders.shift();
        report(stage === kOriginal ? { folder, of: stage, kind: kNotRun }
                                   : { folder, of: stage, kind: kRefused, why: `ends the process, ${signal}` });
        child = undefined;
        next();
      });
      return worker;
    };
    next();
  });
}

async function main() {
  const serves = process.argv.at(-2) === kServe;
  const options = parse(serves ? process.argv.slice(2, -2) : process.argv.slice(2));
  if (serves) {
    serve(options);
    return;
  }
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-exports-'));
  const filter = new RegExp(options.filter);
  const folders = options.folders.flatMap((folder) => {
    return fs.readdirSync(folder).filter((name) => filter.test(name)).sort().map((name) => path.join(folder, name));
  }).filter((folder) => fs.existsSync(path.join(folder, 'model.onnx')));
  const counts = {};
  let wrong = 0;
  try {
    await runAll(folders, scratch, ({ folder, of, kind, why }) => {
      const key = `${of}: ${kind}`;
      counts[key] = (counts[key] ?? 0) + 1;
      if (!why) return;
      wrong += 1;
      console.log(`${kind}: ${path.basename(folder)}, ${of}: ${why.slice(0, 300)}`);
    });
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  for (const key of Object.keys(counts).sort()) console.log(`${key}: ${counts[key]}`);
  process.exit(wrong ? 1 : 0);
}

main();
