// Where everything is: the layouts of the levels, which the page came with, put into each other. An open
// group is larger than the box that its level was laid out with, so its level makes room: rows get higher,
// and what is on the right of it moves to the right, keeping order and columns.

const PAD = 16, HEAD = 30, ROW_GAP = 38, GAP = 24, WAY = 6;

// Places of slots of one level: { x, w, row } with x of the centre, so that those of a row keep their
// distance. Slots with one x keep one x.
function makeRoom(slots) {
  const order = slots.slice().sort((a, b) => a.x - b.x);
  const last = [];  // by row: the slot placed last
  let shift = 0;
  for (let i = 0; i < order.length;) {
    let end = i, at = order[i].x + shift;
    for (; end < order.length && order[end].x - order[i].x < 1; ++end) {
      const slot = order[end], left = last[slot.row];
      if (!left) continue;
      const gap = left.way && slot.way ? GAP / 3 : left.way || slot.way ? GAP / 2 : GAP;
      at = Math.max(at, left.placed + (left.width + slot.width) / 2 + gap - 1);  // places were rounded
    }
    for (; i < end; ++i) {
      order[i].placed = at;
      last[order[i].row] = order[i];
    }
    shift = at - order[end - 1].x;
  }
}

// The group with what is open in it, in coordinates of its own: width, height, boxes, rows, ways, ports.
function placeGroup(graph, number) {
  const group = graph.groups[number];
  const inner = group.items.map((item) => (
    item.group >= 0 && graph.groups[item.group].open ? placeGroup(graph, item.group) : null));
  const slots = group.items.map((item, i) => ({
    x: item.x, row: item.row, width: inner[i] ? inner[i].width : item.w, height: inner[i] ? inner[i].height : item.h,
  }));
  const boxes = slots.slice();
  const ways = group.ways.map((way) => way.x.map((x, i) => {
    const slot = { x, row: way.first + i, width: WAY, height: 0, way: true };
    slots.push(slot);
    return slot;
  }));
  const port = (row) => ({ value, x }) => {
    const slot = { x, row, width: WAY, height: 0, way: true, value };
    slots.push(slot);
    return slot;
  };
  const inputs = group.inputs.map(port(0)), outputs = group.outputs.map(port(group.rows.length - 1));
  if (inner.some((it) => it)) makeRoom(slots);
  else slots.forEach((slot) => { slot.placed = slot.x; });
  let left = 0, right = group.name.length * 8 + (group.alike ? 90 : 40);
  slots.forEach((slot, i) => {
    left = i ? Math.min(left, slot.placed - slot.width / 2) : slot.placed - slot.width / 2;
  });
  slots.forEach((slot) => {
    slot.placed += PAD - left;
    right = Math.max(right, slot.placed + slot.width / 2);
  });
  const heights = group.rows.map(() => 0);
  boxes.forEach((slot) => { heights[slot.row] = Math.max(heights[slot.row], slot.height); });
  const rows = [];
  let y = number ? HEAD + (inputs.length ? 0 : PAD) : PAD;
  heights.forEach((height, i) => {
    rows.push({ y, height });
    y += height + (i + 1 < heights.length ? (height ? ROW_GAP : ROW_GAP / 2) : 0);
  });
  return {
    number, graph, inner, rows, ways, inputs, outputs,
    inputOf: new Map(inputs.map((slot) => [slot.value, slot])), outputOf: new Map(outputs.map((slot) => [slot.value, slot])),
    width: right + PAD, height: y + (outputs.length && number ? 0 : PAD),
    boxes: boxes.map((slot, i) => ({
      item: group.items[i], row: slot.row, width: slot.width, height: slot.height, x: slot.placed - slot.width / 2,
      y: rows[slot.row].y + (rows[slot.row].height - slot.height) / 2,
    })),
  };
}

// Absolute coordinates, boxes by row, and the paths of the wires.
function settle(placed, x, y, graph) {
  placed.x = x;
  placed.y = y;
  graph.open.push(placed);
  graph.placedGroup[placed.number] = placed;
  placed.byRow = placed.rows.map(() => []);
  placed.boxes.forEach((box, i) => {
    box.x += x;
    box.y += y;
    box.placed = placed;
    placed.byRow[box.row].push(box);
    if (box.item.group >= 0) graph.boxOfGroup[box.item.group] = box;
    else graph.boxOfNode[box.item.node] = box;
    if (placed.inner[i]) settle(placed.inner[i], box.x, box.y, graph);
  });
  placed.byRow.forEach((row) => row.sort((a, b) => a.x - b.x));
  placed.rows.forEach((row) => { row.y += y; });
  [placed.inputs, placed.outputs, ...placed.ways].forEach((slots) => slots.forEach((slot) => { slot.placed += x; }));
  placed.wires = null;  // drawn when first seen
}

function place(graph) {
  graph.open = [];
  graph.placedGroup = [];
  graph.boxOfNode = [];
  graph.boxOfGroup = [];
  const whole = placeGroup(graph, 0);
  settle(whole, 0, 0, graph);
  graph.width = whole.width;
  graph.height = whole.height;
}

// The box in which a node is seen: its own, or that of the outermost closed group around it.
function boxOf(graph, node) {
  const it = graph.nodes[node];
  let box = it.box === undefined ? graph.boxOfNode[node] : graph.boxOfGroup[it.box];
  for (let g = it.g; !box && g >= 0; g = graph.groups[g].parent) box = graph.boxOfGroup[g];
  return box;
}

// The points of a wire, from its upper end down, in absolute coordinates.
function pointsOf(placed, wire) {
  const end = (index, outside, isUpper) => {
    if (index < 0) {
      const slot = outside.get(wire.value);
      return { x: slot.placed, y: isUpper ? placed.y + (placed.number ? HEAD : 0) : placed.y + placed.height, row: slot.row };
    }
    const box = placed.boxes[index], inner = placed.inner[index];
    const slot = inner && (isUpper ? inner.outputOf : inner.inputOf).get(wire.value);
    return {
      x: slot ? slot.placed : box.x + box.width / 2, y: isUpper ? box.y + box.height : box.y, row: box.row,
    };
  };
  const upper = wire.up ? end(wire.to, placed.outputOf, true) : end(wire.from, placed.inputOf, true);
  const lower = wire.up ? end(wire.from, placed.inputOf, false) : end(wire.to, placed.outputOf, false);
  const points = [upper];
  const bottom = placed.rows[upper.row].y + placed.rows[upper.row].height;
  if (bottom > upper.y) points.push({ x: upper.x, y: bottom });
  if (wire.way >= 0) {
    const way = placed.ways[wire.way], first = placed.graph.groups[placed.number].ways[wire.way].first;
    for (let row = first; row < lower.row; ++row) {
      const x = way[row - first].placed, { y, height } = placed.rows[row];
      points.push({ x, y });
      if (height) points.push({ x, y: y + height });
    }
  }
  if (placed.rows[lower.row].y < lower.y) points.push({ x: lower.x, y: placed.rows[lower.row].y });
  points.push(lower);
  return points;
}
