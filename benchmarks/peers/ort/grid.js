#!/usr/bin/env node
// ONNX Runtime at its highest level against Weft fused, over sizes of inputs.
//
//   node grid.js [MODEL...] [options]        (--help lists them)
//
// Of every model a table: a row for each length of sequences, or side of images, a column for each number
// of inputs at once, and in it "ORT / fused" as speed.js measures it. Models of sizes that are not there
// yet are exported first. Exit 1 where a ratio is below --at-least, or one of the two fails.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { commandLine, positiveNumbers } = require('./lib/command_line');
const { version } = require('./lib/ort');
const { againstOrt } = require('./lib/turns');

const kRoot = path.resolve(__dirname, '../../..');
const kExport = path.join(kRoot, 'benchmarks/models/export.py');
// What the rows of a model are.
const kRowsOf = { bert_tiny: 'tokens', vit_block: 'tokens', bert_base: 'tokens', mobilenet_v2: 'image',
  mobilenet_v3_large: 'image', squeezenet: 'image', resnet50: 'image' };
// Tokens at once beyond which torch takes long to trace a model.
const kMostTokens = { vit_block: 16384, bert_base: 16384 };
const kUsual = ['bert_tiny', 'vit_block', 'mobilenet_v2', 'squeezenet'];
const kOptions = {
  'models': ['DIR', path.join(kRoot, 'build/grid'), 'folder of the models (build/grid)'],
  'ir-run': ['PATH', path.join(kRoot, 'build/release/bin/ir-run'), 'build/release/bin/ir-run'],
  'batch': ['N,..', '1,8,32', 'inputs at once (1,8,32)'],
  'tokens': ['N,..', '16,128,512,2048', 'lengths of sequences (16,128,512,2048)'],
  'image': ['N,..', '64,128,224,512', 'sides of images (64,128,224,512)'],
  'threads': ['N', '2', 'intra-op threads of both (2)'],
  'isa': ['NAME', undefined, "ir-run's --isa (the best of the machine)"],
  'rounds': ['N', '5', 'rounds for each size (5)'],
  'block': ['MS', '150', 'length a block aims at (150); never under 3 runs'],
  'pause': ['MS', '90', 'pause between blocks (90)'],
  'at-least': ['X', '0.9', 'exit 1 unless each ratio is X or more (0.9)'],
  'json': ['FILE', undefined, 'also write every ratio to FILE'],
};

function parse() {
  const line = commandLine('grid.js', `[MODEL...] [options]   of ${Object.keys(kRowsOf).join(', ')}`,
                           kOptions);
  const { values, positionals, fail } = line;
  positiveNumbers(line, ['threads', 'rounds', 'block', 'pause', 'at-least']);
  for (const name of ['batch', 'tokens', 'image']) {
    const numbers = values[name].split(',').map(Number);
    if (!numbers.every((n) => Number.isInteger(n) && n > 0)) {
      fail(`--${name} ${values[name]} is no list of positive numbers`);
    }
    values[name] = numbers;
  }
  const names = positionals.length ? positionals : kUsual;
  for (const name of names) if (!kRowsOf[name]) fail(`no sizes are known of ${name}`);
  if (!fs.existsSync(values['ir-run'])) fail(`no ${values['ir-run']}; build it, or give --ir-run`);
  return { ...values, names };
}

// The file of a model on inputs of these sizes, written where it is not there.
function fileOf(name, batch, rows, size, folder) {
  const file = path.join(folder, `${name}_b${batch}_${rows[0]}${size}.onnx`);
  if (fs.existsSync(file)) return file;
  const run = spawnSync('/usr/bin/python3', [kExport, '-o', folder, '--batch', `${batch}`,
    `--${rows}`, `${size}`, name], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`export.py: ${run.stderr || run.error}`);
  return file;
}

// {batch, size, ratio} or {batch, size, error}
async function measure(name, batch, rows, size, options) {
  const cell = { batch, size };
  try {
    const file = fileOf(name, batch, rows, size, options.models);
    const { ratio } = await againstOrt(file, options['ir-run'], options);
    return { ...cell, ratio };
  } catch (error) {
    return { ...cell, error: error.message };
  }
}

function text({ ratio: measured, error }) {
  if (!measured && !error) return '-';
  return error ? 'error' : `${measured.median.toFixed(2)} (${measured.low.toFixed(2)}..` +
    `${measured.high.toFixed(2)})`;
}

async function main() {
  const options = parse();
  const cpu = os.cpus()[0].model.trim();
  console.log(`${cpu}; ${options.threads} threads each; ONNX Runtime ${version}, level all; ` +
              `${options.rounds} rounds; ORT / fused\n${new Date().toISOString()}  ` +
              `${['node grid.js', ...process.argv.slice(2)].join(' ')}`);
  const models = [], broken = [];
  for (const name of options.names) {
    const rows = kRowsOf[name];
    console.log(`\n| ${name}, ${rows} | ${options.batch.map((n) => `batch ${n}`).join(' | ')} |`);
    console.log(`|---|${options.batch.map(() => '---|').join('')}`);
    for (const size of options[rows]) {
      const cells = [];
      for (const batch of options.batch) {
        if (rows === 'tokens' && batch * size > (kMostTokens[name] ?? Infinity)) {
          cells.push({ batch, size });
          continue;
        }
        const cell = await measure(name, batch, rows, size, options);
        cells.push(cell);
        const what = `${name}, batch ${batch}, ${rows} ${size}`;
        if (cell.error) broken.push(`${what}: ${cell.error}`);
        else if (cell.ratio.median < options['at-least']) broken.push(`${what}: ${text(cell)}`);
      }
      console.log(`| ${size} | ${cells.map(text).join(' | ')} |`);
      models.push({ model: name, rows, cells });
    }
  }
  const ratios = models.flatMap(({ cells }) => cells).filter((cell) => cell.ratio)
    .map((cell) => cell.ratio.median);
  const geomean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
  console.log(`\n${ratios.length} sizes: least ${Math.min(...ratios).toFixed(2)}, geometric mean ` +
              `${geomean.toFixed(2)}; load average ${os.loadavg()[0].toFixed(2)}`);
  if (options.json) fs.writeFileSync(options.json, `${JSON.stringify({ cpu, models }, null, 1)}\n`);
  for (const line of broken) console.error(line);
  process.exitCode = broken.length ? 1 : 0;
}

main().catch((error) => {
  console.error(`grid.js: ${error.message}`);
  process.exitCode = 1;
});
