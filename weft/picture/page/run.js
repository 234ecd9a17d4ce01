// A run: time per operation as bars, and strips of time and of the arena's use over time.

const runTotal = () => (data.run ? data.run.steps.reduce((sum, step) => sum + step.t, 0) : 0);
const timeText = (milliseconds) => (milliseconds < 1 ? (milliseconds * 1000).toPrecision(3) + ' µs'
  : milliseconds.toPrecision(4) + ' ms');
let strip = null;

function labelOfStep(step) {
  const node = step.f === undefined ? null : graphs[1].nodes[step.f];
  return node && node.l !== undefined ? node.l : -1;
}

// Of an operation of the graph after.
function runOf(side, index) {
  if (!data.run || side === 0) return [];
  const step = data.run.steps.find((it) => it.f === index);
  if (!step) return [heading('Run'), make('p', { className: 'quiet', textContent: 'No kernel of its own: a view, or done when planning.' })];
  return [heading('Run'), table([['time', `${timeText(step.t)}, ${short(100 * step.t / runTotal())} %`], ['kernel', text(step.k)],
    ['arena', bytesText(step.m)]])];
}

function runOverview() {
  if (!data.run) return [];
  const steps = data.run.steps.slice().sort((a, b) => b.t - a.t).slice(0, 25), total = runTotal();
  const parts = [heading('Time per operation'), make('div', { className: 'small quiet', textContent: data.run.on })];
  steps.forEach((step) => {
    const label = labelOfStep(step), bar = make('span', {});
    Object.assign(bar.style, {
      gridColumn: '2 / 4', height: '6px', borderRadius: '3px', width: `${Math.max(1, 100 * step.t / steps[0].t)}%`,
      background: label < 0 ? colours['box-line'] : colours.rules[label].line,
    });
    const entry = row({ title: text(step.k) }, make('span', {}), make('span', { className: 'name', textContent: text(step.o) }),
      make('span', { className: 'count', textContent: `${timeText(step.t)}  ${short(100 * step.t / total)} %` }), bar,
      make('span', { className: 'more', textContent: step.f === undefined ? '' : nodeName(1, step.f) }));
    if (step.f !== undefined) entry.onclick = () => select({ side: 1, node: step.f });
    parts.push(entry);
  });
  return parts;
}

function drawStrip() {
  if (!strip) return;
  const ratio = window.devicePixelRatio || 1, width = strip.clientWidth, height = 84;
  strip.width = width * ratio;
  strip.height = height * ratio;
  const pen = strip.getContext('2d');
  pen.scale(ratio, ratio);
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, width, height);
  const total = runTotal() || 1, most = data.run.steps.reduce((max, step) => Math.max(max, step.m), 1);
  const left = 64, room = width - left - 70;
  let x = left;
  data.run.steps.forEach((step) => {
    const part = room * step.t / total, label = labelOfStep(step);
    pen.fillStyle = label < 0 ? colours['box-line'] : colours.rules[label].line;
    pen.fillRect(x, 4, Math.max(part - 0.5, 0.3), 24);
    if (state.selected && state.selected.side === 1 && state.selected.node === step.f) {
      pen.fillStyle = colours.accent;
      pen.fillRect(x - 1, 0, Math.max(part, 3), 3);
    }
    pen.fillStyle = colours.quiet;
    const high = 44 * step.m / most;
    pen.globalAlpha = 0.55;
    pen.fillRect(x, 78 - high, Math.max(part, 0.4), high);
    pen.globalAlpha = 1;
    step.x = x;
    x += part;
  });
  pen.fillStyle = colours.quiet;
  pen.font = `11px ${FONT}`;
  pen.fillText('time', 8, 20);
  pen.fillText('arena', 8, 60);
  pen.fillText(timeText(runTotal()), width - 66, 20);
  pen.fillText(bytesText(most), width - 66, 44);
}

function stepAt(clientX) {
  const x = clientX - strip.getBoundingClientRect().left;
  let found = null;
  data.run.steps.forEach((step) => { if (step.x <= x) found = step; });
  return found;
}

function makeRun() {
  if (!data.run) return;
  strip = make('canvas', {});
  strip.setAttribute('role', 'img');
  strip.setAttribute('aria-label', 'Time of every operation of a run, in order, and the use of the arena meanwhile');
  document.getElementById('run').replaceChildren(strip);
  strip.onmousemove = (event) => {
    const step = stepAt(event.clientX);
    strip.title = step ? `${text(step.o)}  ${timeText(step.t)}  arena ${bytesText(step.m)}` : '';
  };
  strip.onclick = (event) => {
    const step = stepAt(event.clientX);
    if (step && step.f !== undefined) select({ side: 1, node: step.f });
    drawStrip();
  };
}
