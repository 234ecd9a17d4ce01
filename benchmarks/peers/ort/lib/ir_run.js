// ir-run as a child process: once for its outputs, or kept alive for timed blocks.
'use strict';

const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const readline = require('node:readline');
const { decode, encode } = require('./tensor_proto');

const kStderrTail = 400;
const kBlockTimeoutMs = 300000;

function failure(what, status, stderr) {
  const said = stderr.trim().slice(-kStderrTail);
  return new Error(`${what} ended with ${status}${said ? `: ${said}` : ' and said nothing'}`);
}

// Outputs of `file` for `inputs`, in the order and with the names of `outputs`.
function runOnce(program, file, pipeline, threads, inputs, outputs) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-agree-'));
  try {
    const options = ['--pipeline', pipeline, '--threads', `${threads}`, '--output-dir', folder];
    inputs.forEach((tensor, i) => {
      const pb = path.join(folder, `input_${i}.pb`);
      fs.writeFileSync(pb, encode(tensor));
      options.push('--input', `${tensor.name}=${pb}`);
    });
    const child = spawnSync(program, [file, ...options], { encoding: 'utf8' });
    if (child.error) throw child.error;
    if (child.status !== 0) {
      throw failure(`ir-run --pipeline ${pipeline}`, child.status ?? child.signal, child.stderr);
    }
    return outputs.map(({ name }, i) => {
      return { ...decode(fs.readFileSync(path.join(folder, `output_${i}.pb`))), name };
    });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

// The child's side of `ir-run --bench --bench-blocks`, see speed.js.
class BlockRunner {
  constructor(program, file, pipeline, { threads, isa, provider }) {
    this.what = `ir-run --pipeline ${pipeline}`;
    this.stderr = '';
    this.waiting = null;
    this.error = null;
    const options = ['--pipeline', pipeline, '--threads', `${threads}`, '--random-inputs', '1',
      '--bench', '--bench-blocks'];
    if (isa) options.push('--isa', isa);
    if (provider) options.push('--provider', provider);
    this.child = spawn(program, [file, ...options], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stderr.on('data', (text) => { this.stderr = (this.stderr + text).slice(-4096); });
    this.child.stdin.on('error', () => {});  // a child that died is reported by 'close'
    this.child.on('error', (error) => this.settle(error));
    this.child.on('close', (status, signal) => {
      this.settle(failure(this.what, status ?? signal, this.stderr));
    });
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.settle(null, line);
    });
  }

  settle(error, line) {
    this.error = this.error ?? error;
    const waiting = this.waiting;
    this.waiting = null;
    if (waiting) error ? waiting.reject(error) : waiting.resolve(line);
  }

  // Milliseconds of each of `runs` runs.
  async time(runs) {
    if (this.error) throw this.error;
    const timer = setTimeout(() => {
      this.settle(new Error(`${this.what} gave no block of ${runs} runs in time`));
    }, kBlockTimeoutMs);
    const line = await new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.child.stdin.write(`${runs}\n`);
    }).finally(() => clearTimeout(timer));
    const milliseconds = line.trim().split(/\s+/).map(Number);
    if (milliseconds.length !== runs || !milliseconds.every((ms) => ms > 0)) {
      throw new Error(`${this.what} answered "${line.slice(0, 80)}" to a block of ${runs} runs`);
    }
    return milliseconds;
  }

  close() {
    this.child.stdin.end();
    setTimeout(() => this.child.kill(), 2000).unref();
  }
}

module.exports = { BlockRunner, runOnce };
