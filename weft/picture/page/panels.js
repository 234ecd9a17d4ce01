// The details, on the right. All text goes in as text, never as HTML.

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

const heading = (string) => make('h3', { textContent: string });
const number = (value) => value.toLocaleString('en');
const short = (value) => (value === 0 ? '0' : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(2)
  : String(Number(value.toPrecision(4))));

function bytesText(bytes) {
  if (bytes < 1024) return bytes + ' B';
  const units = ['KiB', 'MiB', 'GiB'];
  let unit = 0, size = bytes / 1024;
  for (; size >= 1024 && unit < 2; ++unit) size /= 1024;
  return size.toFixed(size < 10 ? 2 : 1) + ' ' + units[unit];
}

function go(string, action) {
  const link = make('a', { className: 'go', textContent: string, tabIndex: 0 });
  link.onclick = action;
  link.onkeydown = (event) => { if (event.key === 'Enter') action(); };
  return link;
}

function nodeLink(side, node) {
  const it = graphs[side].nodes[node], name = nodeName(side, node), title = text(it.t);
  return go(name === title ? title : `${title} ${name}`, () => select({ side, node }));
}

function nodeList(side, nodes) {
  const list = make('ul', {});
  nodes.slice(0, 60).forEach((node) => list.append(make('li', {}, nodeLink(side, node))));
  if (nodes.length > 60) list.append(make('li', { className: 'quiet', textContent: `and ${nodes.length - 60} more` }));
  return list;
}

function table(rows) {
  const body = make('table', {});
  rows.forEach(([name, value]) => body.append(make('tr', {}, make('td', { textContent: name }), make('td', {}, value))));
  return body;
}

function swatch(label) {
  const colour = colours.rules[label];
  const element = make('span', { className: 'swatch' });
  element.style.background = colour.fill;
  element.style.borderColor = colour.line;
  return element;
}

function histogram(counts) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('class', 'histogram');
  svg.setAttribute('viewBox', `0 0 ${counts.length} 1`);
  svg.setAttribute('preserveAspectRatio', 'none');
  const most = Math.max(...counts);
  counts.forEach((count, i) => {
    const bar = document.createElementNS(space, 'rect');
    const height = most ? Math.max(count / most, count ? 0.02 : 0) : 0;
    for (const [name, value] of Object.entries({ x: i, y: 1 - height, width: 0.9, height })) bar.setAttribute(name, value);
    svg.append(bar);
  });
  return svg;
}

function constantCard(role, index) {
  const constant = data.constants[index], card = make('div', { className: 'card' });
  card.append(make('div', {}, make('b', { textContent: role || 'constant' }), ' ', constant.n));
  card.append(make('div', { className: 'mono', textContent: text(constant.y) +
    (constant.b === undefined ? '' : '  ' + bytesText(constant.b)) }));
  if (constant.v) card.append(make('code', { textContent: constant.v }));
  if (!constant.s) return card;
  const [min, max, mean, deviation, zeros, notFinite, seen] = constant.s;
  if (constant.h) {
    card.append(histogram(constant.h));
    card.append(make('div', { className: 'small quiet', textContent: `${short(min)} … ${short(max)}, mean ${short(mean)}, ` +
      `deviation ${short(deviation)}` + (zeros ? `, ${short(100 * zeros)} % zeros` : '') + `; ${number(seen)} elements seen` }));
  }
  if (notFinite) card.append(make('div', { className: 'warn', textContent: `${number(notFinite)} not finite` }));
  return card;
}

function ruleCard(label) {
  const rule = data.rules[label];
  const facts = [rule.b, rule.c, rule.g].filter(Boolean).map((fact) => make('span', { className: 'badge', textContent: fact }));
  return make('div', { className: 'card' },
    make('div', {}, swatch(label), ' ', make('b', { textContent: rule.n }), ' ', ...facts.flatMap((fact) => [fact, ' '])),
    rule.a ? make('pre', { textContent: rule.a }) : null,
    rule.w ? make('div', { className: 'small quiet', textContent: rule.w }) : null);
}

function lineageOf(side, it) {
  if (side === 0) {
    if (it.m) return [heading(`Became, by ${it.l === undefined ? 'nothing' : data.rules[it.l].n}`), nodeList(1, it.m)];
    if (it.l === undefined) return [make('p', { className: 'quiet', textContent: 'It is there after all passes as it was.' })];
    return [make('p', { textContent: `Removed by ${data.rules[it.l].n}; nothing came in its place.` })];
  }
  if (it.l === undefined) return [make('p', { className: 'quiet', textContent: 'It is as it was.' })];
  return it.m ? [heading(`Comes from ${it.m.length} operation${it.m.length === 1 ? '' : 's'}`), nodeList(0, it.m)] : [];
}

function rulesOf(it) {
  const labels = [...new Set((it.z || (it.x ? [it.x] : [])).map((step) => data.steps[step - 1].l))];
  if (it.l !== undefined && !labels.includes(it.l)) labels.push(it.l);
  if (!labels.length) return [];
  const parts = [heading('Came through'), ...labels.map(ruleCard)];
  const steps = it.z || (it.x ? [it.x] : []);
  if (steps.length) {
    const links = steps.slice(0, 40).flatMap((step) => [go(String(step), () => setStep(step)), ' ']);
    parts.push(make('div', { className: 'small' }, 'rewrites ', ...links));
  }
  return parts;
}

function nodeDetails(side, index) {
  const it = graphs[side].nodes[index];
  const parts = [make('h2', { textContent: text(it.o === undefined ? it.t : it.o) })];
  parts.push(make('div', { className: 'quiet', textContent: (side ? 'after' : 'before') +
    (it.k === INPUT ? ', an input of the model' : it.k === OUTPUT ? ', an output of the model' : '') }));
  if (it.p) parts.push(make('div', { className: 'mono', textContent: it.p }));
  if (it.y !== undefined) parts.push(make('div', { className: 'mono', textContent: text(it.y) }));
  if (it.k === OPERATION) parts.push(...lineageOf(side, it));
  parts.push(...runOf(side, index));
  if (it.r && it.r.length)
    parts.push(heading('Results'), table(it.r.map((r) => [r.n, make('span', { className: 'mono', textContent: text(r.y) })])));
  if (it.a)
    parts.push(heading('Attributes'), table(it.a.map(([name, value]) => [text(name),
      make('span', { className: 'mono', textContent: text(value) })])));
  const operands = it.i || [];
  const reads = operands.filter((operand) => operand.f !== undefined);
  if (reads.length)
    parts.push(heading('Reads'), table(reads.map((operand) => [text(operand.n), nodeLink(side, operand.f)])));
  const constants = operands.filter((operand) => operand.c !== undefined);
  if (constants.length)
    parts.push(heading('Weights and constants'), ...constants.map((operand) => constantCard(text(operand.n), operand.c)));
  const more = operands.find((operand) => operand.more);
  if (more) parts.push(make('p', { className: 'quiet', textContent: `and ${number(more.more)} more operands` }));
  if (it.k === OPERATION) parts.push(...rulesOf(it));
  if (it.d) parts.push(heading('The model says'), ...it.d.map((doc) => make('p', { textContent: doc })));
  if (side === 1) parts.push(...missesAt(index));
  return parts;
}

function groupDetails(side, index) {
  const group = graphs[side].groups[index];
  const parts = [make('h2', { textContent: group.name }), make('div', { className: 'quiet', textContent: countText(group) })];
  const rows = [...group.labels].sort((a, b) => b[1] - a[1]).map(([label, count]) => [number(count),
    label < 0 ? 'as they were' : make('span', {}, swatch(label), ' ', data.rules[label].n)]);
  if (rows.length) parts.push(heading(side ? 'Made by' : 'Rewritten by'), table(rows));
  if (group.holder >= 0) parts.push(heading('The operation'), nodeLink(side, group.holder));
  const other = graphs[1 - side].groupOfPath.get(group.path);
  if (other !== undefined)
    parts.push(make('p', { className: 'quiet', textContent: `${side ? 'Before' : 'After'}: ` +
      countText(graphs[1 - side].groups[other]) }));
  return parts;
}

function ruleDetails(label) {
  const steps = [];
  data.steps.forEach((step, i) => { if (step.l === label) steps.push(i + 1); });
  const links = steps.slice(0, 200).map((step) => make('div', { className: 'small' },
    go(String(step), () => setStep(step)), ' ' + data.steps[step - 1].s));
  return [make('h2', { textContent: data.rules[label].n }), ruleCard(label),
    heading(`Applied ${number(steps.length)} time${steps.length === 1 ? '' : 's'}`), ...links];
}

function showDetails() {
  const panel = document.getElementById('right'), it = state.selected;
  let parts;
  if (it && it.node !== undefined) parts = nodeDetails(it.side, it.node);
  else if (it && it.group !== undefined) parts = groupDetails(it.side, it.group);
  else if (state.label >= 0) parts = ruleDetails(state.label);
  else parts = overview();
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}
