#!/usr/bin/env node
// How long it takes until a model can run, and what memory it holds then: ONNX Runtime at level `all`, Weft fused.
//
//   node create.js [MODEL...] [options]        (--help lists them)
//
// Each round starts a process for each, in turns. Of ONNX Runtime the creation of the session is timed, in a process
// that has loaded the library; of Weft the whole of `ir-run --bench-blocks` (speed.js has its protocol) from its start to
// its first answer, without the run itself: loading of the program, rules, passes, kernels' weights. Memory is what the
// process holds (VmRSS) after a run; that of node without a model is subtracted on ONNX Runtime's side.
'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { commandLine, positiveNumbers } = require('./lib/command_line');
const { BlockRunner } = require('./lib/ir_run');
const { OrtRunner, median, ratio } = require('./lib/turns');

const kRoot = path.resolve(__dirname, '../../..');
const kOptions = {
  'models': ['DIR', path.join(kRoot, 'build/models'), 'folder of MODEL.onnx (build/models)'],
  'ir-run': ['PATH', path.join(kRoot, 'build/release/bin/ir-run'), 'build/release/bin/ir-run'],
  'threads': ['N', '2', 'threads of both (2)'],
  'rounds': ['N', '9', 'rounds per model (9)'],
};
const kDefault = ['resnet50', 'bert_base', 'vit_block', 'mobilenet_v2', 'squeezenet'];

// Of a process, in MB.
function residentMemory(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) / 1024;
}

// In a process of its own: {ms, mb} of ONNX Runtime for one file.
async function createHere(file, threads) {
  const { initOrt } = require('onnxruntime-node/dist/binding');
  initOrt();
  const before = residentMemory(process.pid);
  const start = performance.now();
  const runner = new OrtRunner(file, threads);
  const ms = performance.now() - start;
  await runner.time(1);
  console.log(JSON.stringify({ ms, mb: residentMemory(process.pid) - before }));
}

function createInOrt(file, { threads }) {
  const child = spawnSync(process.execPath, [__filename, '--here', file, `${threads}`],
    { encoding: 'utf8' });
  if (child.status !== 0) throw new Error(`ONNX Runtime on ${file}: ${child.stderr.trim().slice(-400)}`);
  return JSON.parse(child.stdout);
}

async function createInWeft(file, options) {
  const start = performance.now();
  const runner = new BlockRunner(options['ir-run'], file, 'fuse', options);
  try {
    const [run] = await runner.time(1);
    const ms = performance.now() - start - run;
    return { ms, mb: residentMemory(runner.child.pid) };
  } finally {
    runner.close();
  }
}

async function measure(name, options) {
  const file = path.join(options.models, `${name}.onnx`);
  const ort = { blocks: [], mb: [] }, weft = { blocks: [], mb: [] };
  const add = (side, { ms, mb }) => { side.blocks.push(ms); side.mb.push(mb); };
  for (let round = 0; round < options.rounds; ++round) {
    add(ort, createInOrt(file, options));
    add(weft, await createInWeft(file, options));
  }
  const { median: middle, low, high } = ratio(ort, weft);
  console.log(`| ${name} | ${median(ort.blocks).toFixed(0)} | ${median(weft.blocks).toFixed(0)} | ` +
    `${middle.toFixed(2)} (${low.toFixed(2)}..${high.toFixed(2)}) | ` +
    `${median(ort.mb).toFixed(0)} | ${median(weft.mb).toFixed(0)} |`);
}

async function main() {
  const line = commandLine('create.js', '[MODEL...] [options]', kOptions);
  positiveNumbers(line, ['threads', 'rounds']);
  const { values, positionals, fail } = line;
  const names = positionals.length ? positionals : kDefault;
  for (const name of names)
    if (!fs.existsSync(path.join(values.models, `${name}.onnx`))) fail(`no ${name}.onnx in ${values.models}`);
  console.log('| model | ORT ms | Weft ms | ORT / Weft | ORT MB | Weft MB |\n|---|---|---|---|---|---|');
  for (const name of names) await measure(name, values);
}

if (process.argv[2] === '--here') {
  createHere(process.argv[3], Number(process.argv[4]));
} else {
  main();
}
