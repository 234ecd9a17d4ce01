// Random inputs from a seed, and the measure by which two sets of outputs are compared.
'use strict';

const { arrayOf, elementCount } = require('./tensor_proto');

// mulberry32: small, good enough for test data, the same everywhere.
function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Floats are standard normal, integers and booleans 0 or 1 (they index, mask and gather).
function randomTensor({ name, type, dims }, next) {
  const data = new (arrayOf(type))(elementCount(dims));
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const big = data instanceof BigInt64Array || data instanceof BigUint64Array;
  for (let i = 0; i < data.length; ++i) {
    if (type.startsWith('float')) data[i] = normal();
    else data[i] = big ? BigInt(next() < 0.5 ? 0 : 1) : next() < 0.5 ? 0 : 1;
  }
  return { name, type, dims, data };
}

function randomInputs(metadata, seed, dimValues = {}) {
  const next = uniform(seed);
  return metadata.map(({ name, type, shape }) => {
    const dims = shape.map((dim) => {
      const value = typeof dim === 'number' ? dim : dimValues[dim];
      if (value === undefined) throw new Error(`${name}: size of ${dim} unknown, give --dim ${dim}=N`);
      return value;
    });
    return randomTensor({ name, type, dims }, next);
  });
}

// The largest difference of one tensor, relative to the largest magnitude expected in it.
function tensorDifference(actual, expected) {
  if (actual.type !== expected.type || `${actual.dims}` !== `${expected.dims}`) {
    throw new Error(`output ${expected.name} is ${actual.type}[${actual.dims}], expected ` +
                    `${expected.type}[${expected.dims}]`);
  }
  let largest = 0, difference = 0;
  for (let i = 0; i < expected.data.length; ++i) {
    const want = Number(expected.data[i]), got = Number(actual.data[i]);
    if (Number.isNaN(want) || !Number.isFinite(want)) {
      throw new Error(`output ${expected.name} is ${want} at ${i}: these inputs test nothing`);
    }
    largest = Math.max(largest, Math.abs(want));
    difference = Math.max(difference, Number.isFinite(got) ? Math.abs(got - want) : Infinity);
  }
  if (expected.data.length > 0 && largest === 0) {
    throw new Error(`output ${expected.name} is all zeros: these inputs test nothing`);
  }
  return difference === 0 ? 0 : difference / largest;
}

// The worst output. Throws where names, types or shapes differ, or nothing could be told apart.
function largestDifference(actual, expected) {
  const names = (tensors) => tensors.map((t) => t.name).join(', ');
  if (names(actual) !== names(expected)) {
    throw new Error(`the outputs are ${names(actual)}, expected ${names(expected)}`);
  }
  return Math.max(...expected.map((tensor, i) => tensorDifference(actual[i], tensor)));
}

module.exports = { largestDifference, randomInputs, uniform };
