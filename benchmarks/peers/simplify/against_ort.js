#!/usr/bin/env node
// ir-opt next to ONNX Runtime's own optimizer: nodes, bytes, agreement and speed.
//
//   node against_ort.js [MODEL...] [options]        (--help lists them)
//
// Of every model in build/models and every program of the gallery, or of --gallery: how many nodes are left after
// `ir-opt --pipeline simplify` and in the file that ONNX Runtime saves at its level `basic`; after
// `ir-opt --export ort` and at `extended`. A node is an operator, in a subgraph too, that is no
// constant, as compare.py counts them. Then ONNX Runtime runs the original without optimizations and
// our files at its highest level, on the same inputs: those of the model's test_data_set_0, else
// random ones; the largest difference is relative to the largest element of that output.
//
// With --speed ONNX Runtime, at its highest level and on one thread, runs the original and our two files
// in turns, in short blocks. What counts is the time of the CPU, which other processes take less of than
// they do of the clock's. A ratio is the median over rounds of the original's time by ours: above 1 our
// file is the faster one. Small programs of the gallery are not timed.
//
// Exit 1 when a file does not agree or load, or when ours has more nodes than ONNX Runtime's. Programs
// that ONNX Runtime does not load as they are, are left out.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { parseArgs } = require('node:util');
const { OrtSession, saveOptimized, version } = require('../ort/lib/ort');
const { decode } = require('../ort/lib/tensor_proto');
const { largestDifference, randomInputs } = require('../ort/lib/tensors');

const kRoot = path.resolve(__dirname, '../../..');
const kReadme = path.join(__dirname, '../../README.md');
const kMark = /(<!-- generated: against ONNX Runtime; .*-->\n)[^]*(<!-- end of against ONNX Runtime -->)/;
const kOptions = {
  'models': { type: 'string', default: path.join(kRoot, 'build/models') },
  'gallery': { type: 'string', default: path.join(__dirname, 'gallery') },
  'ir-opt': { type: 'string', default: path.join(kRoot, 'build/release/bin/ir-opt') },
  'speed': { type: 'boolean', default: false },
  'seconds': { type: 'string', default: '6' },
  'bound': { type: 'string', default: '1e-5' },
  'bless': { type: 'boolean', default: false },
  'help': { type: 'boolean', default: false },
};
const kUsage = `usage: node against_ort.js [MODEL...] [options]    MODEL is a part of a name: bert, gallery/gelu
  --models DIR     folder of MODEL.onnx and MODEL/model.onnx (build/models)
  --gallery DIR    folder of small programs, .ir and .onnx (gallery)
  --ir-opt PATH    (build/release/bin/ir-opt)
  --speed          time ONNX Runtime, too
  --seconds N      for each model (6)
  --bound X        largest difference allowed (1e-5)
  --bless          write the table into benchmarks/README.md`;
// Ours, and the level of ONNX Runtime that it is compared with.
const kKinds = [
  { name: 'simplify', options: ['--pipeline', 'simplify'], level: 'basic' },
  { name: 'ort', options: ['--export', 'ort'], level: 'extended' },
];
const kBlockMs = 25, kMinRounds = 7;

function fail(message) {
  console.error(`against_ort.js: ${message}\n${kUsage}`);
  process.exit(2);
}

function parse() {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: kOptions });
    for (const key of ['seconds', 'bound']) {
      if (!(Number(values[key]) > 0)) throw new Error(`--${key} ${values[key]} is not a positive number`);
      values[key] = Number(values[key]);
    }
    return { ...values, filters: positionals };
  } catch (error) {
    return fail(error.message);
  }
}

function findModels(options) {
  const cases = fs.readdirSync(options.gallery).filter((name) => /\.(ir|onnx)$/.test(name)).sort();
  const found = cases.map((name) => {
    return { name: `gallery/${name.replace(/\.(ir|onnx)$/, '')}`, file: path.join(options.gallery, name), small: true };
  });
  const names = fs.existsSync(options.models) ? fs.readdirSync(options.models).sort() : [];
  const models = names.flatMap((name) => {
    const inFolder = path.join(options.models, name, 'model.onnx');
    if (fs.existsSync(inFolder)) return [{ name, file: inFolder, data: path.join(options.models, name, 'test_data_set_0') }];
    return name.endsWith('.onnx') ? [{ name: path.basename(name, '.onnx'), file: path.join(options.models, name) }] : [];
  });
  return [...models, ...found].filter(({ name }) => {
    return options.filters.length === 0 || options.filters.some((filter) => name.includes(filter));
  });
}

function irOpt(options, args) {
  const child = spawnSync(options['ir-opt'], args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (child.error) throw child.error;
  if (child.status !== 0) throw new Error(`ir-opt ${args.join(' ')}: ${child.stderr.trim()}`);
  return child.stdout;
}

// Operators of a file, those of subgraphs included, without constants.
function countNodes(options, file) {
  const names = irOpt(options, [file, '--pipeline', 'none']).matchAll(/^ *\(.*?\) = "([\w.]+)"/gm);
  return [...names].filter(([, name]) => !name.startsWith('builtin.')).length;
}

// Of a model with what lies beside it: external data.
function bytesOf(file) {
  return [file, `${file}.data`].filter((f) => fs.existsSync(f)).reduce((sum, f) => sum + fs.statSync(f).size, 0);
}

// Open sizes are even, for what is halved. Positive ones are for roots.
function inputsOf(model, session, positive = false) {
  if (!model.data) {
    const dims = Object.fromEntries(session.inputs.flatMap(({ shape }) => {
      return shape.filter((dim) => typeof dim === 'string').map((dim) => [dim, 4]);
    }));
    const inputs = randomInputs(session.inputs, 1, dims);
    const isFloat = ({ data }) => data instanceof Float32Array;
    if (positive) for (const { data } of inputs.filter(isFloat)) data.forEach((x, i) => { data[i] = Math.abs(x); });
    return inputs;
  }
  return session.inputs.map(({ name }, i) => {
    return { ...decode(fs.readFileSync(path.join(model.data, `input_${i}.pb`))), name };
  });
}

const given = (session, inputs) => inputs.filter(({ name }) => session.inputs.some((i) => i.name === name));

class NotRun extends Error {}  // ONNX Runtime does not load the original

// The files: the original as ONNX, and for each of kKinds ours and ONNX Runtime's.
function makeFiles(options, model, folder) {
  const isOnnx = model.file.endsWith('.onnx');
  const original = isOnnx ? model.file : path.join(folder, 'original.onnx');
  if (!isOnnx) irOpt(options, [model.file, '-o', original, '--pipeline', 'none']);
  const files = kKinds.map(({ name, level }) => {
    return { ours: path.join(folder, `${name}.onnx`), theirs: path.join(folder, `${level}.onnx`) };
  });
  try {
    kKinds.forEach(({ level }, i) => saveOptimized(original, level, files[i].theirs));
  } catch (error) {
    throw new NotRun(error.message);
  }
  kKinds.forEach(({ options: args }, i) => irOpt(options, [original, '-o', files[i].ours, ...args]));
  return { original, pairs: files };
}

function differenceOf(model, original, ours) {
  const reference = new OrtSession(original, { level: 'disabled', threads: 1 });
  const session = new OrtSession(ours, { level: 'all', threads: 1 });
  try {
    const difference = (positive) => {
      const inputs = inputsOf(model, reference, positive);
      return largestDifference(session.run(given(session, inputs)), reference.run(inputs));
    };
    try {
      return difference(false);
    } catch (error) {  // roots of what is negative, or an output without a number in it
      if (!model.small) throw error;
      return difference(true);
    }
  } finally {
    reference.close();
    session.close();
  }
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

// Of the CPU, in microseconds.
function timeOf(session, runs) {
  const before = process.cpuUsage();
  session.time(runs);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

// The time of the original by that of each of `files`, medians over rounds.
function ratios(options, model, original, files) {
  const sessions = [original, ...files].map((file) => {
    return new OrtSession(file, { level: 'all', threads: 1 });
  });
  try {
    const inputs = inputsOf(model, sessions[0]);
    for (const session of sessions) session.bind(given(session, inputs));
    const once = Math.min(...sessions.map((session) => median(session.time(3))));
    const runs = Math.max(1, Math.round(kBlockMs / once));
    const rounds = [];
    const end = Date.now() + 1000 * options.seconds;
    while (Date.now() < end || rounds.length < kMinRounds) {
      const times = [];
      sessions.forEach((_, i) => {  // each begins a round in its turn
        const at = (i + rounds.length) % sessions.length;
        times[at] = timeOf(sessions[at], runs);
      });
      rounds.push(times);
    }
    return files.map((_, i) => median(rounds.map((times) => times[0] / times[i + 1])));
  } finally {
    for (const session of sessions) session.close();
  }
}

// A row, or why there is none.
function compare(options, model) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-against-'));
  try {
    const { original, pairs } = makeFiles(options, model, folder);
    const row = { model, before: countNodes(options, original), bytes: bytesOf(original) };
    row.kinds = pairs.map(({ ours, theirs }) => ({
      ours: countNodes(options, ours),
      theirs: countNodes(options, theirs),
      bytes: [bytesOf(ours), bytesOf(theirs)],
      difference: differenceOf(model, original, ours),
    }));
    if (options.speed && !model.small) row.ratios = ratios(options, model, original, pairs.map(({ ours }) => ours));
    return row;
  } catch (error) {
    return { model, error, why: error.message.split('\n')[0].slice(0, 300) };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

const megabytes = (bytes) => (bytes / 1e6).toPrecision(3);
const geomean = (numbers) => Math.exp(numbers.reduce((sum, x) => sum + Math.log(x), 0) / numbers.length);
const bold = (text, isBad) => (isBad ? `**${text}**` : `${text}`);

function rowText({ model, before, kinds, ratios: speeds }) {
  const [simple, fused] = kinds;
  const nodes = (kind) => `${bold(kind.ours, kind.ours > kind.theirs)}, ${kind.theirs}`;
  const sizes = (kind) => kind.bytes.map(megabytes).join(', ');
  const worst = Math.max(simple.difference, fused.difference).toExponential(0);
  const times = speeds ? speeds.map((ratio) => bold(ratio.toFixed(2), ratio < 0.98)) : ['', ''];
  return `| ${[model.name, before, nodes(simple), nodes(fused), sizes(simple), sizes(fused), worst, ...times].join(' | ')} |`;
}

// One row for the programs of the gallery: sums, and those where ours has more.
function galleryText(rows) {
  const sum = (of) => rows.reduce((total, row) => total + of(row), 0);
  const nodes = (i) => {
    const more = rows.filter(({ kinds }) => kinds[i].ours > kinds[i].theirs).length;
    return `${sum(({ kinds }) => kinds[i].ours)}, ${sum(({ kinds }) => kinds[i].theirs)}${more ? ` (more in ${more})` : ''}`;
  };
  const worst = Math.max(...rows.flatMap(({ kinds }) => kinds.map(({ difference }) => difference)));
  return `| gallery, ${rows.length} programs | ${sum(({ before }) => before)} | ${nodes(0)} | ${nodes(1)} | | | ${worst.toExponential(0)} | | |`;
}

function table(options, rows) {
  const fit = rows.filter(({ error }) => !error);
  const models = fit.filter(({ model }) => !model.small), gallery = fit.filter(({ model }) => model.small);
  const lines = ['| model | nodes | simplify, basic | ort, extended | MB | MB | difference | speed of simplify | of ort |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|', ...models.map(rowText)];
  if (gallery.length > 0) lines.push(galleryText(gallery));
  const timed = models.filter((row) => row.ratios);
  if (timed.length > 0) {
    const means = kKinds.map((_, i) => geomean(timed.map((row) => row.ratios[i])).toFixed(3));
    lines.push(`| geometric mean | | | | | | | ${means.join(' | ')} |`);
  }
  return lines.join('\n');
}

function bless(text) {
  const readme = fs.readFileSync(kReadme, 'utf8');
  if (!kMark.test(readme)) throw new Error('benchmarks/README.md has no marks for the table');
  fs.writeFileSync(kReadme, readme.replace(kMark, (_, begin, end) => `${begin}${text}\n${end}`));
}

function main() {
  const options = parse();
  if (options.help) return console.log(kUsage);
  if (!fs.existsSync(options['ir-opt'])) fail(`there is no program ${options['ir-opt']}`);
  const models = findModels(options);
  if (models.length === 0) fail('no model has such a name; benchmarks/models/export.py makes them');
  const load = os.loadavg()[0].toFixed(1);
  const rows = models.map((model) => {
    const row = compare(options, model);
    if (row.error) console.error(`${model.name}: ${row.error instanceof NotRun ? 'left out' : 'FAILED'}: ${row.why}`);
    return row;
  });
  const text = table(options, rows);
  console.log(text);
  const more = rows.filter(({ kinds }) => kinds?.some(({ ours, theirs }) => ours > theirs));
  for (const { model, kinds } of more) {
    console.log(`more nodes: ${model.name}: ${kinds.map(({ ours, theirs }) => `${ours}, ${theirs}`).join('; ')}`);
  }
  const wrong = rows.filter(({ kinds }) => kinds?.some(({ difference }) => !(difference <= options.bound)));
  for (const { model } of wrong) console.log(`DIFFERS: ${model.name}`);
  console.log(`ONNX Runtime ${version}; load average before ${load}, after ${os.loadavg()[0].toFixed(1)}`);
  if (options.bless) bless(text);
  const failed = rows.filter(({ error }) => error && !(error instanceof NotRun));
  process.exitCode = more.length + wrong.length + failed.length > 0 ? 1 : 0;
  return undefined;
}

main();
