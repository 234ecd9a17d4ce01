// Options of a script, which --help lists.
'use strict';

const { parseArgs } = require('node:util');

// options: {name: [placeholder, default, help]}, switches without a placeholder; an array is the default of
// what is repeatable. Gives {values, positionals, fail}; fail(message) ends the script with exit code 2.
function commandLine(script, synopsis, options) {
  const lines = Object.entries(options).map(([name, [placeholder, , help]]) => {
    return `  ${`--${name} ${placeholder}`.padEnd(22)} ${help}`;
  });
  const usage = [`usage: node ${script} ${synopsis}`, ...lines].join('\n');
  const fail = (message) => {
    console.error(`${script}: ${message}\n${usage}`);
    process.exit(2);
  };
  const specification = { help: { type: 'boolean' } };
  for (const [name, [placeholder, value]] of Object.entries(options)) {
    specification[name] = placeholder
      ? { type: 'string', multiple: Array.isArray(value), default: value } : { type: 'boolean' };
  }
  let parsed;
  try {
    parsed = parseArgs({ allowPositionals: true, options: specification });
  } catch (error) {
    fail(error.message);
  }
  if (parsed.values.help) {
    console.log(usage);
    process.exit(0);
  }
  return { ...parsed, fail };
}

// Makes numbers of these values.
function positiveNumbers({ values, fail }, names) {
  for (const name of names) {
    if (!(Number(values[name]) > 0)) fail(`--${name} ${values[name]} is not a positive number`);
    values[name] = Number(values[name]);
  }
}

module.exports = { commandLine, positiveNumbers };
