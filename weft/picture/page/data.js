// The data of the page, unpacked. weft/picture/README.md has the names of its parts.

const data = JSON.parse(document.getElementById('data').textContent);
const text = (number) => data.texts[number];

const INPUT = 0, OPERATION = 1, OUTPUT = 2;  // kinds of nodes

// side: 0 before, 1 after.
function unpackGraph(graph, side) {
  const unpacked = { side, nodes: graph.nodes, groups: [], groupOfPath: new Map() };
  graph.groups.forEach((group, number) => {
    const items = [];
    for (let i = 0; i < group.it.length; i += 5) {
      const [item, row, x, w, h] = group.it.slice(i, i + 5);
      items.push({ node: item, group: item < 0 ? -1 - item : -1, row, x, w, h });
    }
    const wires = [];
    const packed = group.wi || [];
    for (let i = 0; i < packed.length; i += 5) {
      const [value, from, to, way, flags] = packed.slice(i, i + 5);
      wires.push({ value, from, to, way, up: (flags & 1) !== 0, far: (flags & 2) !== 0 });
    }
    const pairs = (list) => {
      const ports = [];
      for (let i = 0; list && i < list.length; i += 2) ports.push({ value: list[i], x: list[i + 1] });
      return ports;
    };
    const ways = (group.wy || []).map((way) => ({ first: way[0], x: way.slice(1) }));
    unpacked.groups.push({
      number, parent: group.p, alike: group.w === 1, name: text(group.n), path: group.q, operations: group.o,
      open: group.e === 1, holder: group.d === undefined ? -1 : group.d, items, rows: group.rh || [], wires, ways,
      inputs: pairs(group.in), outputs: pairs(group.ou),
      labels: new Map(), touched: new Set(),
    });
    unpacked.groupOfPath.set(group.q, number);
  });
  unpacked.nodes.forEach((node) => {
    if (node.k !== OPERATION) return;
    for (let g = node.g; g >= 0; g = unpacked.groups[g].parent) {
      const labels = unpacked.groups[g].labels;
      const label = node.l === undefined ? -1 : node.l;
      labels.set(label, (labels.get(label) || 0) + 1);
    }
  });
  // The box of an operation with regions is that of its group.
  unpacked.groups.forEach((group) => {
    if (group.holder >= 0) unpacked.nodes[group.holder].box = group.number;
  });
  return unpacked;
}

const graphs = data.graphs.map(unpackGraph);

// What rules and passes did.
data.rules.forEach((rule) => {
  rule.applied = rule.removed = rule.added = 0;
  rule.touched = [0, 0];
});
data.steps.forEach((step) => {
  const rule = data.rules[step.l];
  rule.applied += 1;
  rule.removed += step.n[0];
  rule.added += step.n[1];
});
graphs.forEach((graph) => graph.nodes.forEach((node) => {
  node.labels = new Set();  // of all rewrites that it took part in, or comes from
  if (node.l !== undefined) node.labels.add(node.l);
}));
data.steps.forEach((step) => [step.b, step.f].forEach((nodes, side) => {
  nodes.forEach((node) => graphs[side].nodes[node].labels.add(step.l));
}));
graphs.forEach((graph) => graph.nodes.forEach((node) => {
  node.labels.forEach((label) => { data.rules[label].touched[graph.side] += 1; });
  for (let g = node.g; g >= 0; g = graph.groups[g].parent) node.labels.forEach((label) => graph.groups[g].touched.add(label));
}));
const ranking = data.rules.map((_, i) => i).sort((a, b) => data.rules[a].rank - data.rules[b].rank);

function colourOf(label, dark) {
  const { hue, pale } = data.rules[label];
  return dark
    ? { fill: `hsl(${hue} ${pale ? 25 : 45}% ${pale ? 24 : 30}%)`, line: `hsl(${hue} ${pale ? 40 : 65}% 64%)` }
    : { fill: `hsl(${hue} ${pale ? 45 : 78}% ${pale ? 92 : 86}%)`, line: `hsl(${hue} ${pale ? 30 : 60}% 42%)` };
}

const state = {
  step: data.steps.length,  // rewrites that are shown as done
  selected: null,           // { side, node } or { side, group }
  hovered: null,
  label: -1,                // the rule that is picked out
  found: null,              // nodes that a search found, by side: [Set, Set]
  dark: false,
};

function nodeName(side, node) {
  const it = graphs[side].nodes[node];
  return it.p || (it.r && it.r.length && it.r[0].n) || text(it.t);
}

// What a node looks like at the step: 'plain', 'waits' (to be rewritten, or to come), 'done' or 'dropped'.
function lookOf(side, node) {
  const it = graphs[side].nodes[node];
  if (it.l === undefined) return 'plain';
  const all = state.step === data.steps.length;
  if (side === 0) {
    const done = it.x ? it.x <= state.step : all;
    return !done ? 'waits' : it.m ? 'done' : 'dropped';
  }
  return (it.z ? it.z[0] <= state.step : all) ? 'done' : 'waits';
}
