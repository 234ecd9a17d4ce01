#!/usr/bin/env node
// One operator at a time: ONNX Runtime at its highest level against Weft fused.
//
//   node operators.js [PATTERN...] [options]        (--help lists them)
//
// Programs of one operator each, on inputs of the sizes that networks have (lib/operator_cases.js), are
// written as ONNX by ir-opt and run in both, as speed.js runs models. Prints a line for each, the slowest
// of ours next to ONNX Runtime first: "ORT / fused", both in milliseconds, and the program. PATTERN: of
// those whose line matches one of these regular expressions. Exit 1 where a ratio is below --at-least.
// node gives ONNX Runtime new memory for outputs in every run, which for some MB takes longer than most
// operators: only ratios below 1 say something.
//
// With --compare outputs are compared first, as agree.js does, and not timed; exit 1 where one differs.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { commandLine, positiveNumbers } = require('./lib/command_line');
const { runOnce } = require('./lib/ir_run');
const { casesOf } = require('./lib/operator_cases');
const { OrtSession, version } = require('./lib/ort');
const { largestDifference, randomInputs } = require('./lib/tensors');
const { againstOrt } = require('./lib/turns');

const kRoot = path.resolve(__dirname, '../../..');
const kOptions = {
  'bin': ['DIR', path.join(kRoot, 'build/release/bin'), 'of ir-opt and ir-run (build/release/bin)'],
  'opset': ['N', '21', 'of the models; what came later has its own (21)'],
  'floats': ['TYPE', 'f32', 'f32, or of the cases with f32 only, with f16 or f64 in its place (f32)'],
  'threads': ['N', '2', 'intra-op threads of both (2)'],
  'isa': ['NAME', undefined, "ir-run's --isa (the best of the machine)"],
  'rounds': ['N', '5', 'rounds for each operator (5)'],
  'block': ['MS', '50', 'length a block aims at (50); never under 3 runs'],
  'pause': ['MS', '20', 'pause between blocks (20)'],
  'at-least': ['X', '0.9', 'exit 1 unless each ratio is X or more (0.9)'],
  'compare': ['', undefined, 'compare outputs instead of timing'],
  'tolerance': ['X', '1e-5', 'with --compare: of the largest element (1e-5)'],
};
const kNewestOpset = '23';

function parse() {
  const line = commandLine('operators.js', '[PATTERN...] [options]', kOptions);
  const { values, positionals, fail } = line;
  positiveNumbers(line, ['threads', 'rounds', 'block', 'pause', 'at-least', 'tolerance']);
  for (const program of ['ir-opt', 'ir-run'])
    if (!fs.existsSync(path.join(values.bin, program))) fail(`no ${program} in ${values.bin}`);
  const patterns = positionals.map((text) => {
    try {
      return new RegExp(text);
    } catch (error) {
      return fail(error.message);
    }
  });
  if (!['f32', 'f16', 'f64'].includes(values.floats)) fail(`floats are f32, f16 or f64, not ${values.floats}`);
  const chosen = casesOf(values.floats).filter(({ name }) => !patterns.length || patterns.some((p) => p.test(name)));
  if (!chosen.length) fail('no operator matches');
  return { ...values, chosen };
}

// Writes the program as ONNX.
function write(program, file, { bin, opset }) {
  const text = file.replace('.onnx', '.ir');
  fs.writeFileSync(text, program);
  let said = '';
  for (const target of [opset, kNewestOpset]) {
    const run = spawnSync(path.join(bin, 'ir-opt'),
                          [text, '-o', file, '--pipeline', 'none', '--target-opset', target],
                          { encoding: 'utf8' });
    if (run.status === 0) return;
    said = run.stderr;
  }
  throw new Error(said.trim());
}

function compare(file, options) {
  const session = new OrtSession(file, { level: 'disabled', threads: options.threads });
  try {
    const inputs = randomInputs(session.inputs, 1);
    const expected = session.run(inputs);
    const actual = runOnce(path.join(options.bin, 'ir-run'), file, 'fuse', options.threads, inputs,
                           expected);
    return largestDifference(actual, expected, { anyValues: true });
  } finally {
    session.close();
  }
}

const milliseconds = (ms) => ms.toPrecision(3).padStart(8);

async function main() {
  const options = parse();
  console.log(`${os.cpus()[0].model.trim()}; ${options.threads} threads each; ONNX Runtime ${version}\n` +
              `${new Date().toISOString()}  ${['node operators.js', ...process.argv.slice(2)].join(' ')}`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-operators-'));
  const timed = [];
  let differ = 0, failed = 0;
  try {
    for (const { name, program } of options.chosen) {
      try {
        const file = path.join(folder, 'operator.onnx');
        write(program(), file, options);
        if (!options.compare) {
          const speed = await againstOrt(file, path.join(options.bin, 'ir-run'), options);
          timed.push({ ...speed, name, ratio: speed.ratio.median });
          continue;
        }
        const difference = compare(file, options);
        if (difference <= options.tolerance) continue;
        differ += 1;
        console.log(`DIFFERS by ${difference.toExponential(1)}: ${name}`);
      } catch (error) {
        failed += 1;
        console.log(`did not run: ${name}: ${error.message.slice(0, 200)}`);
      }
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  timed.sort((a, b) => a.ratio - b.ratio);
  for (const { name, ratio: times, ort, fused } of timed)
    console.log(`${times.toFixed(2).padStart(7)} ${milliseconds(ort)} ${milliseconds(fused)}  ${name}`);
  const slow = timed.filter((one) => one.ratio < options['at-least']);
  if (timed.length) {
    console.log(`${timed.length} operators: ${slow.length} below ${options['at-least']}; load average ` +
                os.loadavg()[0].toFixed(2));
  } else if (options.compare) {
    console.log(`${options.chosen.length - failed} operators compared: ${differ} differ by more than ` +
                `${options.tolerance}`);
  }
  process.exitCode = slow.length || differ ? 1 : 0;
}

main().catch((error) => {
  console.error(`operators.js: ${error.message}`);
  process.exitCode = 1;
});
