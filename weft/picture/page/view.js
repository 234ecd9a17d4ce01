// The two views of the canvas: where they look, and what the pointer does.

const views = [0, 1].map((side) => ({ side, x: 0, y: 0, scale: 1, left: 0, width: 1, height: 1, ratio: 1 }));
const MIN_SCALE = 0.0005, MAX_SCALE = 4;
let waiting = false;
let activeSide = 1;  // that keys are for: the one the pointer was last over

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawAll(views);
  });
}

function resize() {
  const ratio = window.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  views.forEach((view, side) => Object.assign(view, { left: side * width / 2, width: width / 2, height, ratio }));
  redraw();
}

// All of it, if it can be read so, else its upper part; `whole`: all of it in any case.
function fit(view, whole) {
  const graph = graphs[view.side], margin = 18;
  const wide = Math.min((view.width - 2 * margin) / graph.width, 1);
  const all = Math.min(wide, (view.height - 2 * margin) / graph.height);
  view.scale = Math.max(MIN_SCALE, whole ? all : Math.max(all, Math.min(Math.max(wide, 0.5), 0.8)));
  view.x = (view.width - graph.width * view.scale) / 2;
  const spare = view.height - graph.height * view.scale;
  view.y = spare > 0 ? spare / 2 : margin;
  if (graph.width * view.scale > view.width) lookAtFirst(view);
}

// Where a graph is wider than the view: at its inputs.
function lookAtFirst(view) {
  const graph = graphs[view.side], box = graph.open[0].boxes[0];
  if (box) view.x = view.width / 2 - (box.x + box.width / 2) * view.scale;
}

function zoom(view, factor, x, y) {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  redraw();
}

function isInView(view, box) {
  const x = view.x + box.x * view.scale, y = view.y + box.y * view.scale;
  return x >= 0 && y >= 0 && x + box.width * view.scale <= view.width && y + box.height * view.scale <= view.height;
}

function show(side, box) {
  const view = views[side];
  if (isInView(view, box)) return;
  view.x = view.width / 2 - (box.x + box.width / 2) * view.scale;
  view.y = view.height / 2 - (box.y + box.height / 2) * view.scale;
}

// Opens or closes a group, and that of the same path on the other side; what is under the pointer stays.
function setOpen(side, number, open) {
  const path = graphs[side].groups[number].path;
  graphs.forEach((graph) => {
    const group = graph.side === side ? number : graph.groupOfPath.get(path);
    if (!group) return;
    const before = graph.boxOfGroup[group];
    graph.groups[group].open = open;
    place(graph);
    const after = graph.boxOfGroup[group], view = views[graph.side];
    if (!before || !after) return;
    view.x += (before.x + before.width / 2 - after.x - after.width / 2) * view.scale;
    view.y += (before.y - after.y) * view.scale;
  });
  redraw();
}

function setAllOpen(open) {
  graphs.forEach((graph) => {
    graph.groups.forEach((group, i) => { if (i) group.open = open; });
    place(graph);
    fit(views[graph.side], false);
  });
  redraw();
}

function reveal(side, node) {
  const graph = graphs[side];
  let closed = false;
  for (let g = graph.nodes[node].g; g > 0; g = graph.groups[g].parent) {
    closed = closed || !graph.groups[g].open;
    graph.groups[g].open = true;
  }
  if (closed) place(graph);
  show(side, boxOf(graph, node));
}

function select(what, also) {
  state.selected = what;
  if (what && what.node !== undefined && also !== false) {
    reveal(what.side, what.node);
    const others = graphs[what.side].nodes[what.node].m || same(what.side, what.node);
    if (others.length) show(1 - what.side, boxOf(graphs[1 - what.side], others[0]));
  }
  showDetails();
  redraw();
}

// What is at a point of the canvas: a node, a closed group, or the head of an open one.
function hit(clientX, clientY) {
  const bounds = canvas.getBoundingClientRect();
  const px = clientX - bounds.left, py = clientY - bounds.top;
  const view = views[px < views[1].left ? 0 : 1], graph = graphs[view.side];
  const x = (px - view.left - view.x) / view.scale, y = (py - view.y) / view.scale;
  const found = { view, px: px - view.left, py };
  for (let i = graph.open.length - 1; i >= 0; --i) {
    const placed = graph.open[i];
    if (x < placed.x || x > placed.x + placed.width || y < placed.y || y > placed.y + placed.height) continue;
    forBoxesIn(placed, { left: x, right: x, top: y, bottom: y }, (box) => {
      if (y < box.y || y > box.y + box.height || found.what) return;
      if (box.item.group < 0) found.what = { side: view.side, node: box.item.node };
      else if (!graph.groups[box.item.group].open) found.what = { side: view.side, group: box.item.group };
    });
    if (!found.what && placed.number && y < placed.y + HEAD)
      found.what = { side: view.side, group: placed.number, isHead: true };
    if (found.what) break;
  }
  return found;
}

const sameThing = (a, b) => (!a && !b) || (a && b && a.side === b.side && a.node === b.node && a.group === b.group);

function listenToPointer() {
  let drag = null;
  canvas.addEventListener('pointerdown', (event) => {
    const { view } = hit(event.clientX, event.clientY);
    drag = { view, x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (drag) {
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      Object.assign(drag, { moved: true, x: event.clientX, y: event.clientY });
      drag.view.x += dx;
      drag.view.y += dy;
      canvas.classList.add('dragged');
      redraw();
      return;
    }
    const { what, view } = hit(event.clientX, event.clientY);
    activeSide = view.side;
    canvas.classList.toggle('over', Boolean(what));
    canvas.title = titleOf(what);
    if (sameThing(what, state.hovered)) return;
    state.hovered = what || null;
    redraw();
  });
  canvas.addEventListener('pointerup', (event) => {
    const clicked = drag && !drag.moved;
    drag = null;
    canvas.classList.remove('dragged');
    if (!clicked) return;
    const { what } = hit(event.clientX, event.clientY);
    if (what && what.group !== undefined) setOpen(what.side, what.group, !graphs[what.side].groups[what.group].open);
    select(what || null, false);
    if (what && what.node !== undefined) select(what);
  });
  canvas.addEventListener('pointerleave', () => {
    if (drag || !state.hovered) return;
    state.hovered = null;
    redraw();
  });
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const { view, px, py } = hit(event.clientX, event.clientY);
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      zoom(view, Math.exp(-event.deltaY * unit * 0.0025), px, py);
      return;
    }
    view.x -= (event.shiftKey ? event.deltaY : event.deltaX) * unit;
    view.y -= (event.shiftKey ? 0 : event.deltaY) * unit;
    redraw();
  }, { passive: false });
}

function titleOf(what) {
  if (!what) return '';
  if (what.group !== undefined) {
    const group = graphs[what.side].groups[what.group];
    return `${group.name}: ${countText(group)}; click to ${group.open ? 'close' : 'open'}`;
  }
  const node = graphs[what.side].nodes[what.node];
  if (node.k !== OPERATION) return text(node.t);
  return text(node.o) + (node.p ? '  ' + node.p : '') + (node.l === undefined ? '' : '  ' + data.rules[node.l].n);
}
