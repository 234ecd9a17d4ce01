// Runtimes that take turns on one model: blocks of runs, interleaved, and ratios within a round.
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');
const { BlockRunner } = require('./ir_run');
const { OrtSession } = require('./ort');
const { randomInputs } = require('./tensors');

const kMinRuns = 3, kMaxRuns = 2000;

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

// Blocks of every contender, {name, make, blocks: []}, where make() gives what has time(runs) and close().
// Each round begins with another one. options: rounds, and block and pause in milliseconds.
async function takeTurns(contenders, options) {
  try {
    for (const contender of contenders) await prepare(contender, options);
    for (let round = 0; round < options.rounds; ++round) {
      for (let i = 0; i < contenders.length; ++i) {
        const contender = contenders[(round + i) % contenders.length];
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
    for (const { runner } of contenders) runner?.close();
  }
}

// How many times as long a takes as b, over rounds; null where one did not run.
function ratio(a, b) {
  if (!a || !b || a.error || b.error) return null;
  const paired = a.blocks.map((ms, i) => ms / b.blocks[i]);
  return { median: median(paired), low: quantile(paired, 0.25), high: quantile(paired, 0.75) };
}

// ONNX Runtime and ir-run fused on one model: {ratio, ort, fused}, as ratio() gives it and the medians of both in
// milliseconds. options: as of takeTurns, and threads and isa. Throws where one of them fails.
async function againstOrt(file, irRun, options) {
  const ort = { name: 'ort', blocks: [], make: () => new OrtRunner(file, options.threads) };
  const fused = { name: 'fused', blocks: [], make: () => new BlockRunner(irRun, file, 'fuse', options) };
  await takeTurns([ort, fused], options);
  const failed = [ort, fused].find(({ error }) => error);
  if (failed) throw new Error(`${failed.name}: ${failed.error}`);
  return { ratio: ratio(ort, fused), ort: median(ort.blocks), fused: median(fused.blocks) };
}

module.exports = { OrtRunner, againstOrt, median, ratio, takeTurns };
