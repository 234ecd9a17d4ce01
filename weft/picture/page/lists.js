// The rules with their colours, the search, near misses, differences of outputs, the summary on top.

function row(properties, ...children) {
  return make('button', { className: 'row', type: 'button', ...properties }, ...children);
}

function effectOf(rule) {
  const [removed, added] = rule.applied ? [rule.removed, rule.added] : rule.touched;  // of a pass as a whole
  if (!rule.applied && !added) return 'removed what nothing read any more';
  return removed + added ? `operations ${number(removed)} → ${number(added)}` : 'constants only';
}

function showRules() {
  const panel = document.getElementById('left'), parts = [];
  const used = ranking.filter((label) => data.rules[label].applied || data.rules[label].touched[0]);
  parts.push(heading(used.length ? 'What rewrote it' : 'Nothing was rewritten'));
  used.forEach((label) => {
    const rule = data.rules[label];
    const button = row({ title: rule.a || '' }, swatch(label), make('span', { className: 'name', textContent: rule.n }),
      make('span', { className: 'count', textContent: rule.applied ? '×' + number(rule.applied) : '' }),
      make('span', { className: 'more', textContent: effectOf(rule) }));
    button.setAttribute('aria-pressed', String(state.label === label));
    button.onclick = () => pickRule(state.label === label ? -1 : label);
    parts.push(button);
  });
  parts.push(heading('How to read it'), ...legend());
  panel.replaceChildren(...parts);
}

function legend() {
  const sample = (style, string) => {
    const box = make('span', { className: 'swatch' });
    Object.assign(box.style, style);
    return make('div', { className: 'row small' }, box, make('span', { className: 'name', textContent: string }));
  };
  const line = colours.rules[ranking[0]] || { fill: colours.box, line: colours['box-line'] };
  return [
    sample({ background: line.fill, borderColor: line.line }, 'in the colour of its rule: rewritten; on the right, what it became'),
    sample({ background: line.fill, borderColor: line.line, borderStyle: 'dashed' }, 'dashed, struck out: nothing came in its place'),
    sample({ background: colours.box, borderColor: colours['box-line'] }, 'without colour: as it was'),
    make('div', { className: 'small quiet', textContent: 'Click a box marked ▸ to open it, its head to close it, an operation for '
      + 'its details. Weights are in the operations that read them.' }),
  ];
}

function pickRule(label) {
  state.label = label;
  state.selected = null;
  if (label >= 0) {
    graphs.forEach((graph) => {
      const first = graph.nodes.findIndex((node) => node.labels.has(label));
      if (first >= 0) show(graph.side, boxOf(graph, first));
    });
  }
  showRules();
  showDetails();
  redraw();
}

// --- search ---

function matches(side, node, words) {
  const it = graphs[side].nodes[node];
  it.words = it.words || [text(it.t), it.o === undefined ? '' : text(it.o), it.p || '', text(it.s),
    it.l === undefined ? '' : data.rules[it.l].n, ...(it.r || []).map((result) => result.n),
    ...(it.i || []).map((operand) => (operand.c === undefined ? '' : data.constants[operand.c].n))].join('\n').toLowerCase();
  return words.every((word) => it.words.includes(word));
}

function search(string) {
  const words = string.toLowerCase().split(/\s+/).filter(Boolean);
  state.found = words.length ? graphs.map((graph) => {
    const found = new Set();
    found.groups = new Set();
    graph.nodes.forEach((node, i) => {
      if (!matches(graph.side, i, words)) return;
      found.add(i);
      for (let g = node.g; g >= 0; g = graph.groups[g].parent) found.groups.add(g);
    });
    return found;
  }) : null;
  state.selected = null;
  showDetails();
  redraw();
}

function foundList() {
  const parts = [];
  state.found.forEach((found, side) => {
    parts.push(heading(`${found.size ? number(found.size) : 'None'} found ${side ? 'after' : 'before'}`));
    [...found].slice(0, 100).forEach((node) => {
      const it = graphs[side].nodes[node];
      const entry = row({}, it.l === undefined ? make('span', {}) : swatch(it.l),
        make('span', { className: 'name', textContent: text(it.t) }), make('span', { className: 'count', textContent: text(it.s) }),
        make('span', { className: 'more', textContent: nodeName(side, node) }));
      entry.onclick = () => select({ side, node });
      parts.push(entry);
    });
    if (found.size > 100) parts.push(make('p', { className: 'quiet', textContent: `and ${number(found.size - 100)} more` }));
  });
  return parts;
}

// --- near misses, outputs ---

function missCard(miss) {
  const card = make('details', { className: 'card' });
  card.append(make('summary', {}, make('b', { textContent: miss.n }), ` ${miss.f[0]} of ${miss.f[1]} operations found`));
  card.append(make('div', { className: 'small', textContent: miss.w }));
  if (miss.o >= 0) card.append(make('div', {}, 'at ', nodeLink(1, miss.o)));
  card.append(make('pre', { textContent: miss.t }));
  return card;
}

function missesAt(node) {
  const here = data.misses.filter((miss) => miss.o === node);
  return here.length ? [heading('Rules that almost fitted here'), ...here.map(missCard)] : [];
}

function outputTable() {
  if (!data.outputs.length) return [];
  return [heading('Outputs, before against after'), ...data.outputs.map((output) => make('div', { className: 'card' },
    make('b', { textContent: output.n }), make('div', { className: 'small', textContent: output.v })))];
}

// What the panel shows when nothing is selected.
function overview() {
  if (state.found) return foundList();
  const parts = [...outputTable(), ...runOverview()];
  if (data.misses.length) {
    parts.push(heading('Rules that almost fitted'));
    parts.push(make('div', { className: 'small quiet', textContent: 'At the nearest place in the graph after all passes; the same '
      + 'as ir-opt --explain says.' }));
    parts.push(...data.misses.map(missCard));
  }
  if (!parts.length) parts.push(make('p', { className: 'quiet', textContent: 'Click an operation for its details.' }));
  return parts;
}

const operationsOf = (graph) => graph.nodes.filter((node) => node.k === OPERATION).length;

function showSummary() {
  document.getElementById('model').textContent = data.model;
  const fact = (name, value) => make('span', {}, name + ' ', make('b', { textContent: value }));
  const [before, after] = graphs.map(operationsOf);
  const facts = [fact('operations', `${number(before)} → ${number(after)}`),
    make('span', { textContent: `with constants ${number(data.all[0])} → ${number(data.all[1])}` }),
    fact('rewrites', number(data.steps.length)), fact('pipeline', data.pipeline), fact('numbers', data.numerics),
    fact('weights', bytesText(data.bytes))];
  if (data.run) facts.push(fact('time', timeText(runTotal())), fact('arena', bytesText(data.run.arena)));
  const worst = data.outputs.reduce((most, output) => Math.max(most, output.d), 0);
  if (data.outputs.length) facts.push(fact('largest difference', short(worst)));
  document.getElementById('summary').replaceChildren(...facts);
  document.getElementById('title-before').textContent = `${number(before)} operations`;
  document.getElementById('title-after').textContent = `${number(after)} operations`;
}
