// Puts it all together: theme, keys, buttons, printing.

function setTheme(dark) {
  state.dark = dark;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  readColours();
  showRules();
  if (data.steps.length) showStep();
  showDetails();
  drawStrip();
  redraw();
}

const KEYS = [
  ['/', 'search'], ['← ↑ → ↓', 'move the side that the pointer was last over; 1 and 2 choose one'], ['+ −', 'larger, smaller'],
  ['0', 'all of both graphs'], ['j  k', 'the next operation, the one before'], ['x', 'what it became, or comes from'],
  ['o', 'open or close the group around it'], ['e  c', 'open, close all groups'], ['[  ]', 'the rewrite before, the next'],
  ['p', 'play the rewrites'], ['t', 'light or dark'], ['Esc', 'nothing selected'], ['?', 'these keys'],
];

function move(by) {
  const it = state.selected;
  const side = it && it.node !== undefined ? it.side : activeSide, nodes = graphs[side].nodes;
  const from = it && it.node !== undefined ? it.node : by > 0 ? -1 : nodes.length;
  if (from + by >= 0 && from + by < nodes.length) select({ side, node: from + by });
}

function jump() {
  const it = state.selected;
  if (!it || it.node === undefined) return;
  const others = graphs[it.side].nodes[it.node].m || same(it.side, it.node);
  if (others.length) select({ side: 1 - it.side, node: others[0] });
}

function toggleGroup() {
  const it = state.selected;
  if (!it) return;
  const group = it.group !== undefined ? it.group : graphs[it.side].nodes[it.node].g;
  if (group <= 0) return;
  setOpen(it.side, group, !graphs[it.side].groups[group].open);
  select({ side: it.side, group });
}

function fitAll() {
  views.forEach((view) => fit(view, true));
  redraw();
}

function clear() {
  state.selected = null;
  document.getElementById('search').value = '';
  pickRule(-1);
  search('');
}

function zoomBy(factor) {
  views.forEach((view) => zoom(view, factor, view.width / 2, view.height / 2));
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const inField = event.target instanceof HTMLInputElement;
  if (event.key === 'Escape') {
    clear();
    canvas.focus();
    return;
  }
  if (inField) return;
  const view = views[activeSide], far = 80;
  const actions = {
    '/': () => document.getElementById('search').focus(),
    ArrowLeft: () => { view.x += far; }, ArrowRight: () => { view.x -= far; },
    ArrowUp: () => { view.y += far; }, ArrowDown: () => { view.y -= far; },
    PageUp: () => { view.y += view.height * 0.9; }, PageDown: () => { view.y -= view.height * 0.9; },
    1: () => { activeSide = 0; }, 2: () => { activeSide = 1; },
    '+': () => zoomBy(1.25), '=': () => zoomBy(1.25), '-': () => zoomBy(0.8), 0: fitAll,
    j: () => move(1), k: () => move(-1), x: jump, o: toggleGroup, e: () => setAllOpen(true), c: () => setAllOpen(false),
    '[': () => setStep(state.step - 1), ']': () => setStep(state.step + 1), p: play, t: () => setTheme(!state.dark), '?': showKeys,
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
  redraw();
}

function showKeys() {
  const dialog = document.getElementById('keys');
  const close = make('button', { textContent: 'Close', onclick: () => dialog.close() });
  dialog.replaceChildren(make('h2', { textContent: 'Keys' }),
    table(KEYS.map(([key, what]) => [key, what])), make('p', { className: 'small quiet', textContent:
      'The wheel moves, with Ctrl it zooms; drag to move.' }), close);
  dialog.showModal();
}

// On paper: both graphs as a whole, light. What is kept is the state on the screen; null: there it is.
let kept = null;

function listenToPrinting() {
  window.addEventListener('beforeprint', () => {
    kept = { views: views.map((view) => ({ ...view })), dark: state.dark, readable };
    readable = 0.12;  // paper is finer
    setTheme(false);
    const width = 1200, height = 760, ratio = 3;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    views.forEach((view, side) => Object.assign(view, { left: side * width / 2, width: width / 2, height, ratio }));
    views.forEach((view) => fit(view, true));
    drawAll(views);
  });
  window.addEventListener('afterprint', () => {
    views.forEach((view, side) => Object.assign(view, kept.views[side]));
    const { dark } = kept;
    readable = kept.readable;
    kept = null;
    setTheme(dark);
    resize();
  });
}

// For scripts, such as the tests: where a node of that title or a group of that path is on the screen, if it
// is; the boxes that are drawn; what groups hold, in words; how many nodes look how.
function find(side, name) {
  const graph = graphs[side], view = views[side], bounds = canvas.getBoundingClientRect();
  const group = graph.groupOfPath.get(name);
  const isOpen = group !== undefined && graph.placedGroup[group];
  const node = graph.nodes.findIndex((it) => text(it.t) === name);
  const box = group !== undefined ? graph.boxOfGroup[group] : node >= 0 ? boxOf(graph, node) : null;
  if (!box) return null;
  return { x: bounds.left + view.left + view.x + (box.x + (isOpen ? 12 : box.width / 2)) * view.scale,
    y: bounds.top + view.y + (box.y + (isOpen ? 12 : box.height / 2)) * view.scale };
}

function looks() {
  return graphs.map((graph) => graph.nodes.reduce((counts, node, i) => {
    if (node.k === OPERATION) counts[lookOf(graph.side, i)] = (counts[lookOf(graph.side, i)] || 0) + 1;
    return counts;
  }, {}));
}

window.picture = {
  data, find, looks, groups: (side) => graphs[side].groups.map(countText),
  boxes: () => graphs.map((graph) => graph.open.flatMap((placed) => placed.boxes
    .filter((box) => box.item.group < 0 || !graph.groups[box.item.group].open)
    .map(({ x, y, width, height }) => ({ x, y, width, height })))),
};

function main() {
  graphs.forEach(place);
  const prefersDark = window.matchMedia('(prefers-color-scheme: dark)');
  readColours();
  showSummary();
  makeSteps();
  makeRun();
  resize();
  views.forEach((view) => fit(view, false));
  setTheme(prefersDark.matches);
  prefersDark.addEventListener('change', (event) => setTheme(event.matches));
  listenToPointer();
  listenToPrinting();
  document.addEventListener('keydown', onKey);
  const field = document.getElementById('search');
  field.addEventListener('input', () => search(field.value));
  field.addEventListener('keydown', (event) => {
    const first = event.key === 'Enter' && state.found && [1, 0].find((side) => state.found[side].size);
    if (first !== false && first !== undefined && first !== null) select({ side: first, node: [...state.found[first]][0] });
  });
  const buttons = {
    'zoom-in': () => zoomBy(1.25), 'zoom-out': () => zoomBy(0.8), fit: fitAll, 'open-all': () => setAllOpen(true),
    'close-all': () => setAllOpen(false), theme: () => setTheme(!state.dark), help: showKeys,
  };
  Object.entries(buttons).forEach(([id, action]) => { document.getElementById(id).onclick = action; });
  new ResizeObserver(() => {
    if (kept) return;
    resize();
    drawStrip();
  }).observe(canvas);
  document.getElementById('hint').textContent = 'Drag or scroll to move, Ctrl and the wheel to zoom, ? for keys';
  drawAll(views);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));  // milliseconds, for tests
}

main();
