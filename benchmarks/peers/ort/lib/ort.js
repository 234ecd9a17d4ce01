// ONNX Runtime behind a synchronous call.
//
// `new OrtSession(file, {level, threads})` loads; run() takes and gives tensors as in
// tensor_proto.js; time(runs) gives milliseconds per run, with inputs and outputs bound beforehand.
// It uses the package's native binding rather than InferenceSession.run: that one goes through
// setImmediate and a promise, which adds some 5 us that are node's and not ONNX Runtime's.
'use strict';

const ort = require('onnxruntime-node');
const { binding, initOrt } = require('onnxruntime-node/dist/binding');
const { version } = require('onnxruntime-node/package.json');
const { arrayOf, elementCount } = require('./tensor_proto');

const kSilent = 3;  // errors only

// ONNX's data type codes in the order the binding reports them.
const kTypeNames = [undefined, 'float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64',
  'string', 'bool', 'float16', 'float64', 'uint32', 'uint64'];

function describe({ name, type, shape, symbolicDimensions }) {
  return {
    name,
    type: kTypeNames[type] ?? `type ${type}`,
    shape: Array.from(shape, (dim, i) => (dim === -1 ? symbolicDimensions[i] || `dim${i}` : dim)),
  };
}

class OrtSession {
  constructor(file, { level, threads }) {
    initOrt();
    this.native = new binding.InferenceSession();
    this.native.loadModel(file, {
      executionProviders: ['cpu'],
      graphOptimizationLevel: level,
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: kSilent,
    });
    this.inputs = this.native.inputMetadata.map(describe);
    this.outputs = this.native.outputMetadata.map(describe);
  }

  run(tensors) {
    const wanted = Object.fromEntries(this.outputs.map(({ name }) => [name, null]));
    const results = this.native.run(feeds(tensors), wanted, {});
    return this.outputs.map(({ name }) => {
      const { type, dims, data } = results[name];
      return { name, type, dims: [...dims], data };
    });
  }

  // Fixes the inputs of time() and allocates its outputs, so that only ONNX Runtime is timed.
  bind(tensors) {
    this.feeds = feeds(tensors);
    this.fetches = Object.fromEntries(this.run(tensors).map(({ name, type, dims }) => {
      return [name, new ort.Tensor(type, new (arrayOf(type))(elementCount(dims)), dims)];
    }));
  }

  time(runs) {
    const milliseconds = [];
    for (let i = 0; i < runs; ++i) {
      const start = process.hrtime.bigint();
      this.native.run(this.feeds, this.fetches, {});
      milliseconds.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    return milliseconds;
  }

  close() {
    this.native.dispose();
  }
}

// Writes what ONNX Runtime makes of `file` at a level: basic or extended.
function saveOptimized(file, level, path) {
  initOrt();
  const native = new binding.InferenceSession();
  native.loadModel(file, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: level,
    logSeverityLevel: kSilent,
    optimizedModelFilePath: path,
  });
  native.dispose();
}

function feeds(tensors) {
  return Object.fromEntries(tensors.map(({ name, type, dims, data }) => {
    return [name, new ort.Tensor(type, data, dims)];
  }));
}

module.exports = { OrtSession, saveOptimized, version };
