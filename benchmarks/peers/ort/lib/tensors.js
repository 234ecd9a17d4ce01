// Random inputs from a seed, and the measure by which two sets of outputs are compared.
'use strict';

const { arrayOf, elementCount, halfOfNumber, numberOfHalf } = require('./tensor_proto');

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
    if (type === 'float16') data[i] = halfOfNumber(normal());
    else if (type.startsWith('float')) data[i] = normal();
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

// The largest difference of one tensor, relative to the largest magnitude expected in it. What is not finite
// must be the same where it is `allowed`, as zeros alone are then.
function tensorDifference(actual, expected, allowed) {
  if (actual.type !== expected.type || `${actual.dims}` !== `${expected.dims}`) {
    throw new Error(`output ${expected.name} is ${actual.type}[${actual.dims}], expected ` +
                    `${expected.type}[${expected.dims}]`);
  }
  let largest = 0, difference = 0;
  const number = expected.type === 'float16' ? numberOfHalf : Number;
  for (let i = 0; i < expected.data.length; ++i) {
    const want = number(expected.data[i]), got = number(actual.data[i]);
    if (!Number.isFinite(want)) {
      if (allowed && Object.is(got, want)) continue;
      if (allowed) return Infinity;
      throw new Error(`output ${expected.name} is ${want} at ${i}: these inputs test nothing`);
    }
    largest = Math.max(largest, Math.abs(want));
    difference = Math.max(difference, Number.isFinite(got) ? Math.abs(got - want) : Infinity);
  }
  if (expected.data.length > 0 && largest === 0 && !allowed) {
    throw new Error(`output ${expected.name} is all zeros: these inputs test nothing`);
  }
  if (difference === 0) return 0;
  return largest === 0 ? Infinity : difference / largest;
}

// The worst output. Throws where names, types or shapes differ, or nothing could be told apart; with
// `anyValues` outputs may be zeros, infinities and NaNs.
function largestDifference(actual, expected, { anyValues = false } = {}) {
  const names = (tensors) => tensors.map((t) => t.name).join(', ');
  if (names(actual) !== names(expected)) {
    throw new Error(`the outputs are ${names(actual)}, expected ${names(expected)}`);
  }
  return Math.max(...expected.map((tensor, i) => tensorDifference(actual[i], tensor, anyValues)));
}

module.exports = { largestDifference, randomInputs, uniform };
