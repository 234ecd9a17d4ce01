// Drawing both graphs on the one canvas: only what is visible, and no text that would be too small to read.

const canvas = document.getElementById('canvas');
const context = canvas.getContext('2d', { alpha: false });
const FONT = getComputedStyle(document.body).fontFamily;
let readable = 0.42;  // the scale from which on boxes have text
const COARSE = 0.08;    // the scale below which nobody sees how wires bend
const WIRE_ROWS = 48;   // that share a path

let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['page', 'panel', 'line', 'text', 'quiet', 'accent', 'box', 'box-line', 'group', 'group-line', 'wire'])
    colours[name] = style.getPropertyValue('--' + name).trim();
  colours.rules = data.rules.map((_, label) => colourOf(label, state.dark));
}

function addCurve(path, points) {
  path.moveTo(points[0].x, points[0].y);
  for (let i = 1; i < points.length; ++i) {
    const a = points[i - 1], b = points[i];
    if (Math.abs(a.x - b.x) < 1 || Math.abs(a.y - b.y) < 3) {
      path.lineTo(b.x, b.y);
    } else {
      const middle = (a.y + b.y) / 2;
      path.bezierCurveTo(a.x, middle, b.x, middle, b.x, b.y);
    }
  }
}

// Paths of the wires of a level by the row they begin in, with the heights that they are seen at.
function wirePaths(placed) {
  const bundles = [];
  placed.graph.groups[placed.number].wires.forEach((wire) => {
    if (wire.from === wire.to && wire.from >= 0) return;
    const points = wire.far ? null : pointsOf(placed, wire);
    const ends = points || farEnds(placed, wire);
    const number = Math.floor((ends[0].row || 0) / WIRE_ROWS);
    const bundle = bundles[number] || (bundles[number] = {
      plain: new Path2D(), up: new Path2D(), ends: new Path2D(), coarse: new Path2D(), top: Infinity, bottom: -Infinity,
    });
    bundle.top = Math.min(bundle.top, ends[0].y);
    bundle.bottom = Math.max(bundle.bottom, ends[ends.length - 1].y);
    if (!points) {
      ends.forEach((end) => bundle.ends.rect(end.x - 2, end.y - 2, 4, 4));
      return;
    }
    addCurve(wire.up ? bundle.up : bundle.plain, points);
    bundle.coarse.moveTo(points[0].x, points[0].y);
    bundle.coarse.lineTo(points[points.length - 1].x, points[points.length - 1].y);
    const tip = wire.up ? points[0] : points[points.length - 1], way = wire.up ? 1 : -1;
    const box = placed.boxes[wire.to];
    if (!box || placed.inner[wire.to]) return;
    bundle.ends.moveTo(tip.x, tip.y);
    bundle.ends.lineTo(tip.x - 3.5, tip.y + 7 * way);
    bundle.ends.lineTo(tip.x + 3.5, tip.y + 7 * way);
  });
  return bundles.filter((bundle) => bundle);
}

function farEnds(placed, wire) {
  const points = pointsOf(placed, { ...wire, way: -1 });
  return [points[0], points[points.length - 1]];
}

function drawWires(placed, seen, scale) {
  placed.wires = placed.wires || wirePaths(placed);
  context.lineWidth = Math.max(1.2, 0.6 / scale);
  context.strokeStyle = context.fillStyle = colours.wire;
  placed.wires.forEach((bundle) => {
    if (bundle.bottom < seen.top || bundle.top > seen.bottom) return;
    if (scale < COARSE) {
      context.stroke(bundle.coarse);
      return;
    }
    context.stroke(bundle.plain);
    context.setLineDash([5, 4]);
    context.stroke(bundle.up);
    context.setLineDash([]);
    if (scale > readable / 2) context.fill(bundle.ends);
  });
}

// The first of sorted rows that reaches below y.
function firstRow(rows, y) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].y + rows[middle].height < y) low = middle + 1;
    else high = middle;
  }
  return low;
}

function forBoxesIn(placed, seen, visit) {
  for (let i = firstRow(placed.rows, seen.top); i < placed.rows.length && placed.rows[i].y <= seen.bottom; ++i)
    for (const box of placed.byRow[i])
      if (box.x + box.width >= seen.left && box.x <= seen.right) visit(box);
}

function outline(box, radius) {
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, radius);
}

function fitText(string, width) {
  if (context.measureText(string).width <= width) return string;
  let low = 0, high = string.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(string.slice(0, middle) + '…').width <= width) low = middle;
    else high = middle - 1;
  }
  return string.slice(0, low) + '…';
}

function labelBox(box, title, second, bold) {
  const middle = box.x + box.width / 2;
  context.textAlign = 'center';
  context.fillStyle = colours.text;
  context.font = `${bold ? '600 ' : ''}13px ${FONT}`;
  box.title = box.title || fitText(title, box.width - 12);
  context.fillText(box.title, middle, box.y + (second ? 18 : box.height / 2 + 5));
  if (!second) return;
  context.fillStyle = colours.quiet;
  context.font = `11px ${FONT}`;
  box.second = box.second || fitText(second, box.width - 12);
  context.fillText(box.second, middle, box.y + 33);
}

function isDimmed(side, node) {
  const it = graphs[side].nodes[node];
  if (state.label >= 0) return !it.labels.has(state.label);
  return state.found !== null && !state.found[side].has(node);
}

function drawNode(side, box, scale) {
  const number = box.item.node, node = graphs[side].nodes[number], look = lookOf(side, number);
  const colour = node.l === undefined ? null : colours.rules[node.l];
  const faint = isDimmed(side, number) ? 0.22 : 1;
  const coloured = colour && (look === 'done' || look === 'dropped');
  context.globalAlpha = faint * (look === 'waits' && side === 1 ? 0.3 : 1);
  context.fillStyle = coloured ? colour.fill : colours.box;
  context.strokeStyle = colour ? colour.line : colours['box-line'];
  if (scale < readable) {
    context.fillStyle = coloured ? (look === 'dropped' ? colour.fill : colour.line) : colours['box-line'];
    context.fillRect(box.x, box.y, box.width, box.height);
    context.globalAlpha = 1;
    return;
  }
  outline(box, node.k === OPERATION ? 6 : box.height / 2);
  context.lineWidth = coloured ? 1.6 : 1;
  context.setLineDash(look === 'dropped' || look === 'waits' ? [4, 3] : []);
  context.fill();
  context.stroke();
  context.setLineDash([]);
  labelBox(box, text(node.t), text(node.s), node.k === OPERATION);
  if (look === 'dropped') {
    context.strokeStyle = colour.line;
    context.beginPath();
    context.moveTo(box.x + 10, box.y + 14);
    context.lineTo(box.x + box.width - 10, box.y + 14);
    context.stroke();
  }
  if (side === 1 && node.m && node.m.length > 1 && node.l !== undefined) drawCount(box, node.m.length, colour);
  context.globalAlpha = 1;
}

// How many operations it stands for.
function drawCount(box, count, colour) {
  const label = '×' + count;
  context.font = `600 10px ${FONT}`;
  const width = context.measureText(label).width + 10;
  context.fillStyle = colour.line;
  context.beginPath();
  context.roundRect(box.x + box.width - width + 6, box.y - 7, width, 15, 7);
  context.fill();
  context.fillStyle = colours.panel;
  context.textAlign = 'center';
  context.fillText(label, box.x + box.width - width / 2 + 6, box.y + 4);
}

// How much of it each rule rewrote, along the lower rim.
function drawShares(group, box) {
  let x = box.x + 8;
  const width = box.width - 16;
  const shares = [...group.labels].sort((a, b) => (a[0] < 0) - (b[0] < 0) || data.rules[a[0]].rank - data.rules[b[0]].rank);
  shares.forEach(([label, count]) => {
    const part = width * count / Math.max(1, group.operations);
    context.fillStyle = label < 0 ? colours.line : colours.rules[label].line;
    context.fillRect(x, box.y + box.height - 12, Math.max(part - 1, 1), 6);
    x += part;
  });
}

function drawClosed(graph, box, scale) {
  const group = graph.groups[box.item.group];
  const hit = state.label >= 0 ? group.touched.has(state.label) : !state.found || state.found[graph.side].groups.has(group.number);
  context.globalAlpha = hit ? 1 : 0.3;
  context.fillStyle = colours.panel;
  context.strokeStyle = colours['box-line'];
  context.lineWidth = 1.2;
  if (scale < readable) {
    context.fillRect(box.x, box.y, box.width, box.height);
    context.strokeRect(box.x, box.y, box.width, box.height);
  } else {
    for (const by of [4, 0]) {  // two sheets: there is something inside
      outline({ x: box.x + by, y: box.y + by, width: box.width - 4, height: box.height - 4 }, 6);
      context.fill();
      context.stroke();
    }
    labelBox(box, '▸ ' + group.name, countText(group), true);
  }
  drawShares(group, scale < readable ? { ...box, y: box.y + 2 } : { ...box, y: box.y - 4, width: box.width - 4 });
  context.globalAlpha = 1;
}

function countText(group) {
  const operations = `${group.operations} operation${group.operations === 1 ? '' : 's'}`;
  return group.alike ? `${group.items.length} alike, ${operations}` : operations;
}

function drawOpen(placed, scale) {
  const group = placed.graph.groups[placed.number];
  outline(placed, 10);
  context.fillStyle = colours.group;
  context.strokeStyle = colours['group-line'];
  context.lineWidth = 1;
  context.fill();
  context.stroke();
  if (scale < readable * 0.6) return;
  context.font = `600 12px ${FONT}`;
  context.textAlign = 'left';
  context.fillStyle = colours.quiet;
  context.fillText(fitText(`▾ ${group.name}   ${group.alike ? group.items.length + ' alike' : ''}`, placed.width - 20),
    placed.x + 10, placed.y + 19);
}

function highlight(box, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  outline({ x: box.x - 3, y: box.y - 3, width: box.width + 6, height: box.height + 6 }, 9);
  context.stroke();
}

// Nodes to be picked out of a side: of the selection, what the pointer is over, the step.
function pickedOut(side) {
  const picked = new Map();
  const add = (node, colour) => picked.set(node, colour);
  const relatives = (it) => {
    if (!it || it.node === undefined) return;
    const relatives = graphs[it.side].nodes[it.node].m || same(it.side, it.node);
    if (it.side === side) add(it.node, colours.accent);
    else relatives.forEach((node) => add(node, colours.accent));
  };
  const step = data.steps[state.step - 1];
  if (step && state.step < data.steps.length) (side ? step.f : step.b).forEach((node) => add(node, colours.rules[step.l].line));
  relatives(state.hovered);
  relatives(state.selected);
  return picked;
}

// Inputs and outputs are the same on both sides.
function same(side, node) {
  const it = graphs[side].nodes[node];
  if (it.k === OPERATION) return [];
  const other = graphs[1 - side].nodes.findIndex((o) => o.k === it.k && o.t === it.t);
  return other < 0 ? [] : [other];
}

function drawSide(view) {
  const graph = graphs[view.side], { scale } = view, ratio = view.ratio;
  const seen = {
    left: -view.x / scale, top: -view.y / scale, right: (view.width - view.x) / scale, bottom: (view.height - view.y) / scale,
  };
  context.save();
  context.beginPath();
  context.rect(view.left * ratio, 0, view.width * ratio, view.height * ratio);
  context.clip();
  context.setTransform(scale * ratio, 0, 0, scale * ratio, (view.left + view.x) * ratio, view.y * ratio);
  const inView = graph.open.filter((it) => it.x <= seen.right && it.x + it.width >= seen.left && it.y <= seen.bottom &&
    it.y + it.height >= seen.top);
  inView.forEach((placed) => { if (placed.number) drawOpen(placed, scale); });
  inView.forEach((placed) => drawWires(placed, seen, scale));
  inView.forEach((placed) => forBoxesIn(placed, seen, (box) => {
    if (box.item.group < 0) drawNode(view.side, box, scale);
    else if (!graph.groups[box.item.group].open) drawClosed(graph, box, scale);
  }));
  pickedOut(view.side).forEach((colour, node) => highlight(boxOf(graph, node), colour, Math.max(2.5, 1.5 / scale)));
  if (state.selected && state.selected.side === view.side && state.selected.group !== undefined)
    highlight(graph.boxOfGroup[state.selected.group] || graph.placedGroup[0], colours.accent, 2.5);
  context.restore();
}

// From what is picked out on one side to what it became on the other.
function drawLinks(views) {
  const it = state.hovered && state.hovered.node !== undefined ? state.hovered : state.selected;
  if (!it || it.node === undefined) return;
  const node = graphs[it.side].nodes[it.node];
  const others = node.m || same(it.side, it.node);
  context.setTransform(views[0].ratio, 0, 0, views[0].ratio, 0, 0);
  context.strokeStyle = node.l === undefined ? colours.accent : colours.rules[node.l].line;
  context.lineWidth = 1.6;
  context.globalAlpha = 0.85;
  const drawn = new Set();
  others.slice(0, 200).forEach((other) => {
    const pair = it.side === 0 ? [it.node, other] : [other, it.node];
    const ends = pair.map((number, side) => {
      const box = boxOf(graphs[side], number), view = views[side];
      const x = view.left + view.x + (side ? box.x : box.x + box.width) * view.scale;
      const y = view.y + (box.y + box.height / 2) * view.scale;
      return [Math.min(Math.max(x, view.left), view.left + view.width), Math.min(Math.max(y, 2), view.height - 2)];
    });
    const key = ends.join();
    if (drawn.has(key)) return;
    drawn.add(key);
    const [[x1, y1], [x2, y2]] = ends;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
    context.stroke();
  });
  context.globalAlpha = 1;
}

function drawAll(views) {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colours.page;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.textBaseline = 'alphabetic';
  views.forEach(drawSide);
  context.setTransform(views[0].ratio, 0, 0, views[0].ratio, 0, 0);
  context.fillStyle = colours.line;
  context.fillRect(views[1].left - 1, 0, 1, views[1].height);
  drawLinks(views);
}
