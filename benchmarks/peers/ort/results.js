#!/usr/bin/env node
// What ONNX Runtime makes of models without inputs: a line per output, the file's name and the
// numbers, between tabs.
//
//   node results.js DIR > TABLE.tsv
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { OrtSession } = require('./lib/ort');

const kDigits = 8;

const [folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node results.js DIR');
  process.exit(2);
}
let failures = 0;
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.onnx')).sort()) {
  try {
    const session = new OrtSession(path.join(folder, file), { level: 'disabled', threads: 1 });
    for (const { data } of session.run([])) {
      const numbers = Array.from(data, (number) => Number(Number(number).toPrecision(kDigits)));
      console.log([path.basename(file, '.onnx'), ...numbers].join('\t'));
    }
  } catch (error) {
    console.error(`${file}: ${error.message}`);
    ++failures;
  }
}
process.exit(failures ? 1 : 0);
