#!/usr/bin/env node
// ONNX Runtime at its highest level against Weft fused and unfused: interleaved blocks, one script.
//
//   node speed.js [MODEL...] [options]        (--help lists them)
//
// For every model: ONNX Runtime in this process, and two children
//
//   ir-run MODEL --pipeline fuse|none --threads N --random-inputs 1 --bench --bench-blocks
//
// take turns, one block each per round, in an order that rotates, with a pause between blocks in
// which the last runtime's worker threads fall asleep. A block's figure is the median of its runs;
// a ratio is the median over rounds of the ratio within a round, given with its quartiles. Above 1
// the second-named side is faster: "ORT / fused" 1.2 says that fused Weft does 1.2 runs in the time
// of one of ONNX Runtime.
//
// The protocol of --bench-blocks. The child loads, plans and packs, then reads lines from stdin:
// one decimal run count each. For a count N it runs the model N times and answers with one line on
// stdout, flushed: N wall-clock times in milliseconds, decimal, separated by single spaces, each
// run timed for itself, inputs in place. It writes nothing else to stdout (all else to stderr),
// blocks in read() between lines and does not spin meanwhile; its worker threads may spin for a few
// milliseconds after a block, not longer. End of input: exit 0. A line that is no positive count:
// exit 2. The first two blocks are warm-up here, so the child need not warm up.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const { parseArgs } = require('node:util');
const { BlockRunner } = require('./lib/ir_run');
const { OrtSession, version } = require('./lib/ort');
const { randomInputs } = require('./lib/tensors');

const kRoot = path.resolve(__dirname, '../../..');
const kOptions = {
  'models': ['DIR', path.join(kRoot, 'build/models'), 'folder of MODEL.onnx (build/models)'],
  'ir-run': ['PATH', path.join(kRoot, 'build/release/bin/ir-run'), 'build/release/bin/ir-run'],
  'fused': ['PIPELINE', 'fuse', "ir-run's --pipeline for the fused side (fuse)"],
  'unfused': ['PIPELINE', 'layout', 'and for the unfused side (layout)'],
  'threads': ['N', '2', 'intra-op threads of every runtime (2)'],
  'isa': ['NAME', undefined, "ir-run's --isa (the best of the machine)"],
  'rounds': ['N', '15', 'rounds per model (15)'],
  'block': ['MS', '250', 'length a block aims at (250); never under 3 runs'],
  'pause': ['MS', '90', 'pause between blocks (90)'],
  'at-least': ['MODEL=X', [], 'exit 1 unless ORT / fused of MODEL is X or more; repeatable'],
  'json': ['FILE', undefined, 'also write every block to FILE'],
};
const kMinRuns = 3, kMaxRuns = 2000, kBusyLoad = 0.5;

function usage() {
  const lines = Object.entries(kOptions).map(([name, [value, , help]]) => {
    return `  ${`--${name} ${value}`.padEnd(22)} ${help}`;
  });
  return `usage: node speed.js [MODEL...] [options]\n${lines.join('\n')}
  --ort-only             time ONNX Runtime alone`;
}

function fail(message) {
  console.error(`speed.js: ${message}\n${usage()}`);
  process.exit(2);
}

function parse() {
  const specification = { 'ort-only': { type: 'boolean' }, 'help': { type: 'boolean' } };
  for (const [name, [, value]] of Object.entries(kOptions)) {
    specification[name] = { type: 'string', multiple: Array.isArray(value), default: value };
  }
  let parsed;
  try {
    parsed = parseArgs({ allowPositionals: true, options: specification });
  } catch (error) {
    fail(error.message);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(usage());
    process.exit(0);
  }
  for (const name of ['threads', 'rounds', 'block', 'pause']) {
    if (!(Number(values[name]) > 0)) fail(`--${name} ${values[name]} is not a positive number`);
    values[name] = Number(values[name]);
  }
  values.bounds = values['at-least'].map((text) => {
    const [model, bound] = text.split('=');
    if (!(Number(bound) > 0)) fail(`--at-least ${text} is not of the form MODEL=RATIO`);
    return { model, bound: Number(bound) };
  });
  if (values['ort-only'] && values.bounds.length) fail('--at-least needs both runtimes');
  if (!values['ort-only'] && !fs.existsSync(values['ir-run'])) {
    fail(`no ${values['ir-run']}; build it, or give --ir-run or --ort-only`);
  }
  const names = positionals.length ? positionals : modelsIn(values.models);
  for (const { model } of values.bounds) {
    if (!names.includes(model)) fail(`--at-least ${model}: this model is not run`);
  }
  return { ...values, names };
}

function modelsIn(folder) {
  const files = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  const names = files.filter((file) => file.endsWith('.onnx')).map((file) => path.parse(file).name);
  if (!names.length) fail(`no models in ${folder}; run benchmarks/models/export.py`);
  return names.sort();
}

function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = q * (sorted.length - 1), low = Math.floor(at), high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

const median = (values) => quantile(values, 0.5);

// ONNX Runtime with the interface of BlockRunner.
class OrtRunner {
  constructor(file, threads) {
    this.session = new OrtSession(file, { level: 'all', threads });
    this.session.bind(randomInputs(this.session.inputs, 1));
  }

  async time(runs) {
    return this.session.time(runs);
  }

  close() {
    this.session.close();
  }
}

// {name: {runner}} or {name: {error}} of everything to be timed on one model.
function contenders(file, options) {
  const makers = { ort: () => new OrtRunner(file, options.threads) };
  if (!options['ort-only']) {
    for (const side of ['fused', 'unfused']) {
      makers[side] = () => new BlockRunner(options['ir-run'], file, options[side], options);
    }
  }
  return Object.entries(makers).map(([name, make]) => ({ name, make, blocks: [] }));
}

// Loads, warms up and finds how many runs fill a block. A contender that fails sits out.
async function prepare(contender, options) {
  try {
    contender.runner = contender.make();
    await contender.runner.time(1);
    const once = median(await contender.runner.time(kMinRuns));
    contender.runs = Math.max(kMinRuns, Math.min(kMaxRuns, Math.round(options.block / once)));
  } catch (error) {
    contender.error = error.message;
  }
}

async function measure(name, options) {
  const list = contenders(path.join(options.models, `${name}.onnx`), options);
  try {
    for (const contender of list) await prepare(contender, options);
    for (let round = 0; round < options.rounds; ++round) {
      for (let i = 0; i < list.length; ++i) {
        const contender = list[(round + i) % list.length];
        if (contender.error) continue;
        await sleep(options.pause);
        try {
          contender.blocks.push(median(await contender.runner.time(contender.runs)));
        } catch (error) {
          contender.error = error.message;
        }
      }
    }
  } finally {
    for (const { runner } of list) runner?.close();
  }
  return summary(name, Object.fromEntries(list.map((contender) => [contender.name, contender])));
}

function summary(name, { ort, fused, unfused }) {
  const side = (contender) => contender && {
    ms: contender.error ? null : median(contender.blocks),
    runs_per_block: contender.runs,
    blocks: contender.blocks,
    error: contender.error,
  };
  const ratio = (a, b) => {
    if (!a || !b || a.error || b.error) return null;
    const paired = a.blocks.map((ms, i) => ms / b.blocks[i]);
    return { median: median(paired), low: quantile(paired, 0.25), high: quantile(paired, 0.75) };
  };
  return {
    model: name, ort: side(ort), fused: side(fused), unfused: side(unfused),
    ort_over_fused: ratio(ort, fused), unfused_over_fused: ratio(unfused, fused),
  };
}

function milliseconds(side) {
  if (!side) return '-';
  if (side.ms === null) return 'error';
  return side.ms.toPrecision(side.ms < 1 ? 3 : 4);
}

function ratioText(ratio) {
  if (!ratio) return '-';
  return `${ratio.median.toFixed(2)} (${ratio.low.toFixed(2)}..${ratio.high.toFixed(2)})`;
}

function printRow(result) {
  const cells = [result.model, milliseconds(result.ort), milliseconds(result.fused),
    milliseconds(result.unfused), ratioText(result.ort_over_fused),
    ratioText(result.unfused_over_fused)];
  console.log(`| ${cells.join(' | ')} |`);
  for (const side of ['ort', 'fused', 'unfused']) {
    if (result[side]?.error) console.error(`${result.model}, ${side}: ${result[side].error}`);
  }
}

function load() {
  return os.loadavg()[0];
}

// The bounds of --at-least that do not hold, as sentences.
function brokenBounds(bounds, results) {
  return bounds.flatMap(({ model, bound }) => {
    const ratio = results.find((result) => result.model === model).ort_over_fused;
    if (ratio && ratio.median >= bound) return [];
    return [`${model}: ORT / fused is ${ratioText(ratio)}, wanted ${bound}`];
  });
}

async function main() {
  const options = parse();
  const cpus = os.cpus();
  const about = {
    date: new Date().toISOString(),
    command: ['node speed.js', ...process.argv.slice(2)].join(' '),
    cpu: `${cpus[0].model.trim()}, ${cpus.length} logical`,
    threads: options.threads,
    onnxruntime: version,
    load_before: load(),
  };
  console.log(`${about.cpu}; ${about.threads} threads each; ONNX Runtime ${version}, level all; ` +
              `${options.rounds} rounds\n${about.date}  ${about.command}\n`);
  if (about.load_before > kBusyLoad) {
    console.error(`speed.js: load is ${about.load_before.toFixed(2)}: trust ratios, if anything`);
  }
  console.log('| model | ORT ms | Weft fused ms | Weft unfused ms | ORT / fused | ' +
              'unfused / fused |');
  console.log('|---|---|---|---|---|---|');
  const models = [];
  for (const name of options.names) {
    models.push(await measure(name, options));
    printRow(models[models.length - 1]);
  }
  about.load_after = load();
  console.log(`\nload average ${about.load_before.toFixed(2)} before, ` +
              `${about.load_after.toFixed(2)} after`);
  if (options.json) {
    fs.writeFileSync(options.json, `${JSON.stringify({ ...about, models }, null, 1)}\n`);
  }

  const broken = brokenBounds(options.bounds, models);
  for (const line of broken) console.error(line);
  const failed = models.some((m) => ['ort', 'fused', 'unfused'].some((side) => m[side]?.error));
  process.exitCode = broken.length || failed ? 1 : 0;
}

main().catch((error) => {
  console.error(`speed.js: ${error.message}`);
  process.exitCode = 1;
});
