#!/usr/bin/env node
// ONNX Runtime at its highest level against Weft fused and unfused: interleaved blocks, one script.
//
//   node speed.js [MODEL...] [options]        (--help lists them)
//
// For every model: ONNX Runtime in this process, and two children
//
//   ir-run MODEL --pipeline fuse|layout --threads N --random-inputs 1 --bench --bench-blocks
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
const { commandLine, positiveNumbers } = require('./lib/command_line');
const { BlockRunner } = require('./lib/ir_run');
const { version } = require('./lib/ort');
const { OrtRunner, median, ratio, takeTurns } = require('./lib/turns');

const kRoot = path.resolve(__dirname, '../../..');
const kOptions = {
  'models': ['DIR', path.join(kRoot, 'build/models'), 'folder of MODEL.onnx (build/models)'],
  'ir-run': ['PATH', path.join(kRoot, 'build/release/bin/ir-run'), 'build/release/bin/ir-run'],
  'fused': ['PIPELINE', 'fuse', "ir-run's --pipeline for the fused side (fuse)"],
  'unfused': ['PIPELINE', 'layout', 'and for the unfused side (layout)'],
  'threads': ['N', '2', 'intra-op threads of every runtime (2)'],
  'isa': ['NAME', undefined, "ir-run's --isa (the best of the machine)"],
  'xnnpack': ['', undefined, "also the fused side with XNNPACK's kernels first (--provider xnnpack)"],
  'rounds': ['N', '15', 'rounds per model (15)'],
  'block': ['MS', '250', 'length a block aims at (250); never under 3 runs'],
  'pause': ['MS', '90', 'pause between blocks (90)'],
  'at-least': ['MODEL=X', [], 'exit 1 unless ORT / fused of MODEL is X or more; repeatable'],
  'json': ['FILE', undefined, 'also write every block to FILE'],
  'ort-only': ['', undefined, 'time ONNX Runtime alone'],
};
const kBusyLoad = 0.5;
const kSides = ['ort', 'fused', 'unfused', 'xnnpack'];

function parse() {
  const line = commandLine('speed.js', '[MODEL...] [options]', kOptions);
  const { values, positionals, fail } = line;
  positiveNumbers(line, ['threads', 'rounds', 'block', 'pause']);
  values.bounds = values['at-least'].map((text) => {
    const [model, bound] = text.split('=');
    if (!(Number(bound) > 0)) fail(`--at-least ${text} is not of the form MODEL=RATIO`);
    return { model, bound: Number(bound) };
  });
  if (values['ort-only'] && values.bounds.length) fail('--at-least needs both runtimes');
  if (!values['ort-only'] && !fs.existsSync(values['ir-run'])) {
    fail(`no ${values['ir-run']}; build it, or give --ir-run or --ort-only`);
  }
  const names = positionals.length ? positionals : modelsIn(values.models, fail);
  for (const { model } of values.bounds) {
    if (!names.includes(model)) fail(`--at-least ${model}: this model is not run`);
  }
  return { ...values, names };
}

function modelsIn(folder, fail) {
  const files = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  const names = files.filter((file) => file.endsWith('.onnx')).map((file) => path.parse(file).name);
  if (!names.length) fail(`no models in ${folder}; run benchmarks/models/export.py`);
  return names.sort();
}

// {name: {runner}} or {name: {error}} of everything to be timed on one model.
function contenders(file, options) {
  const makers = { ort: () => new OrtRunner(file, options.threads) };
  if (!options['ort-only']) {
    for (const side of ['fused', 'unfused']) {
      makers[side] = () => new BlockRunner(options['ir-run'], file, options[side], options);
    }
    if (options.xnnpack) {
      const first = { ...options, provider: 'xnnpack' };
      makers.xnnpack = () => new BlockRunner(options['ir-run'], file, options.fused, first);
    }
  }
  return Object.entries(makers).map(([name, make]) => ({ name, make, blocks: [] }));
}

async function measure(name, options) {
  const list = contenders(path.join(options.models, `${name}.onnx`), options);
  await takeTurns(list, options);
  return summary(name, Object.fromEntries(list.map((contender) => [contender.name, contender])));
}

function summary(name, { ort, fused, unfused, xnnpack }) {
  const side = (contender) => contender && {
    ms: contender.error ? null : median(contender.blocks),
    runs_per_block: contender.runs,
    blocks: contender.blocks,
    error: contender.error,
  };
  return {
    model: name, ort: side(ort), fused: side(fused), unfused: side(unfused), xnnpack: side(xnnpack),
    ort_over_fused: ratio(ort, fused), unfused_over_fused: ratio(unfused, fused),
    xnnpack_over_fused: ratio(xnnpack, fused),
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
  if (result.xnnpack) cells.push(milliseconds(result.xnnpack), ratioText(result.xnnpack_over_fused));
  console.log(`| ${cells.join(' | ')} |`);
  for (const side of kSides) {
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
  const more = options.xnnpack ? [' XNNPACK first ms | XNNPACK first / fused |', '---|---|'] : ['', ''];
  console.log('| model | ORT ms | Weft fused ms | Weft unfused ms | ORT / fused | ' +
              `unfused / fused |${more[0]}`);
  console.log(`|---|---|---|---|---|---|${more[1]}`);
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
  const failed = models.some((m) => kSides.some((side) => m[side]?.error));
  process.exitCode = broken.length || failed ? 1 : 0;
}

main().catch((error) => {
  console.error(`speed.js: ${error.message}`);
  process.exitCode = 1;
});
