// node --test: the parts that agreement and speed rest on. Needs no onnxruntime-node.
'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const { decode, encode, halfOfNumber, numberOfHalf } = require('../lib/tensor_proto');
const { largestDifference, randomInputs } = require('../lib/tensors');

const vector = (name, values) => {
  return { name, type: 'float32', dims: [values.length], data: Float32Array.from(values) };
};

test('a tensor is encoded as the ONNX schema says', () => {
  // dims=2, dims=1, data_type=FLOAT, name="x", raw_data={1, -2}; protoc's own bytes.
  const bytes = '080208011001' + '420178' + '4a08' + '0000803f' + '000000c0';
  const tensor = { name: 'x', type: 'float32', dims: [2, 1], data: Float32Array.of(1, -2) };
  assert.strictEqual(encode(tensor).toString('hex'), bytes);
});

test('every type survives encoding and decoding', () => {
  for (const data of [Float32Array.of(0.1, -3e38), Float64Array.of(0.1, 1e300),
    Int32Array.of(-1, 7), Uint8Array.of(0, 255), BigInt64Array.of(-(2n ** 63n), 5n)]) {
    const type = { Float32Array: 'float32', Float64Array: 'float64', Int32Array: 'int32',
      Uint8Array: 'uint8', BigInt64Array: 'int64' }[data.constructor.name];
    assert.deepStrictEqual(decode(encode({ name: 'n', type, dims: [2], data })),
                           { name: 'n', type, dims: [2], data });
  }
});

test('a number is rounded to the nearest half', () => {
  for (let bits = 0; bits < 0x10000; ++bits) {
    const number = numberOfHalf(bits);
    if (Number.isNaN(number)) continue;
    assert.strictEqual(halfOfNumber(number), bits);
    if (bits >= 0x7bff) continue;  // between positive neighbours, the even one where both are as near
    const next = numberOfHalf(bits + 1), middle = (number + next) / 2;
    assert.strictEqual(halfOfNumber(middle), bits + (bits & 1));
    assert.strictEqual(halfOfNumber(middle - 2 ** -30), bits);
    assert.strictEqual(halfOfNumber(middle + 2 ** -30), bits + 1);
  }
  assert.strictEqual(halfOfNumber(65519), 0x7bff);
  assert.strictEqual(halfOfNumber(-65520), 0xfc00);
  assert.strictEqual(halfOfNumber(NaN), 0x7e00);
});

test('random halves are standard normal', () => {
  const [x] = randomInputs([{ name: 'x', type: 'float16', shape: [4096] }], 1);
  const numbers = Array.from(x.data, numberOfHalf);
  const mean = numbers.reduce((sum, n) => sum + n) / numbers.length;
  const variance = numbers.reduce((sum, n) => sum + (n - mean) ** 2, 0) / numbers.length;
  assert.ok(Math.abs(mean) < 0.1 && Math.abs(variance - 1) < 0.1, `${mean}, ${variance}`);
});

test('the bits of a half are a number', () => {
  assert.strictEqual(numberOfHalf(0x3c01), 1 + 2 ** -10);
  assert.strictEqual(numberOfHalf(0xfbff), -65504);
  assert.strictEqual(numberOfHalf(0x0001), 2 ** -24);
  assert.strictEqual(numberOfHalf(0x7c00), Infinity);
  assert.ok(Number.isNaN(numberOfHalf(0x7e00)));
});

test('typed fields are read, packed or not', () => {
  // packed float_data {1.5}, packed int64_data {-1, 300}, unpacked int64_data 5, 6.
  const packedFloat = Buffer.from('08011001' + '2204' + '0000c03f', 'hex');
  assert.deepStrictEqual(decode(packedFloat).data, Float32Array.of(1.5));
  const packed = Buffer.from('08021007' + '3a0c' + 'ffffffffffffffffff01' + 'ac02', 'hex');
  assert.deepStrictEqual(decode(packed).data, BigInt64Array.of(-1n, 300n));
  const unpacked = Buffer.from('08021007' + '3805' + '3806', 'hex');
  assert.deepStrictEqual(decode(unpacked).data, BigInt64Array.of(5n, 6n));
});

test('a truncated or short tensor is an error', () => {
  const bytes = encode(vector('x', [1, 2, 3]));
  assert.throws(() => decode(bytes.subarray(0, bytes.length - 1)), /truncated/);
  assert.throws(() => decode(Buffer.from('08021001' + '4a04' + '0000803f', 'hex')),
                /1 elements do not fill \[2\]/);
});

test('the difference is relative to the largest value expected', () => {
  const expected = [vector('y', [100, 1])];
  assert.strictEqual(largestDifference([vector('y', [100, 1.5])], expected), 0.005);
  assert.strictEqual(largestDifference([vector('y', [100, NaN])], expected), Infinity);
  assert.strictEqual(largestDifference([vector('y', [100, 1])], expected), 0);
});

test('the worst output counts, not the last', () => {
  const expected = [vector('a', [1]), vector('b', [1])];
  assert.strictEqual(largestDifference([vector('a', [2]), vector('b', [1])], expected), 1);
});

test('outputs that could not differ are refused', () => {
  assert.throws(() => largestDifference([vector('y', [0])], [vector('y', [0])]), /test nothing/);
  assert.throws(() => largestDifference([vector('z', [1])], [vector('y', [1])]), /expected y/);
  assert.throws(() => largestDifference([vector('y', [1, 1])], [vector('y', [1])]), /expected/);
});

test('any values may be allowed, and are told apart', () => {
  const difference = (actual, expected) => {
    return largestDifference([vector('y', actual)], [vector('y', expected)], { anyValues: true });
  };
  assert.strictEqual(difference([NaN, Infinity, 0], [NaN, Infinity, 0]), 0);
  assert.strictEqual(difference([NaN, 4], [NaN, 5]), 0.2);
  for (const [actual, expected] of [[[1], [NaN]], [[NaN], [1]], [[-Infinity], [Infinity]], [[1], [0]]])
    assert.strictEqual(difference(actual, expected), Infinity);
});

test('halves are compared as numbers', () => {
  const half = (bits) => [{ name: 'y', type: 'float16', dims: [1], data: Uint16Array.of(bits) }];
  assert.strictEqual(largestDifference(half(0x3c00), half(0x4000)), 0.5);
});

test('inputs depend on the seed and on nothing else', () => {
  const metadata = [{ name: 'x', type: 'float32', shape: [2, 'n'] },
    { name: 'ids', type: 'int64', shape: [64] }];
  const [x, ids] = randomInputs(metadata, 3, { n: 5 });
  assert.deepStrictEqual(x.dims, [2, 5]);
  assert.deepStrictEqual([x, ids], randomInputs(metadata, 3, { n: 5 }));
  assert.notDeepStrictEqual(x, randomInputs(metadata, 4, { n: 5 })[0]);
  assert.deepStrictEqual([...new Set(ids.data)].sort(), [0n, 1n]);
  assert.throws(() => randomInputs(metadata, 3), /--dim n=N/);
});
