// The slider over the rewrites. At a step, what later ones do is not shown as done yet.

let stepInput, stepText, playing = null;

function names(list) {
  const counts = new Map();
  list.forEach((name) => counts.set(text(name), (counts.get(text(name)) || 0) + 1));
  return [...counts].map(([name, count]) => (count > 1 ? `${count} ${name}` : name)).join(', ') || 'nothing';
}

function showStep() {
  const all = data.steps.length;
  stepInput.value = state.step;
  stepText.replaceChildren();
  if (state.step === 0) {
    stepText.append('before any rewrite');
  } else if (state.step === all) {
    stepText.append(`all ${number(all)} done; go back to see them one by one`);
  } else {
    const step = data.steps[state.step - 1];
    stepText.append(swatch(step.l), ` ${number(state.step)} of ${number(all)}  `, make('b', { textContent: data.rules[step.l].n }),
      `  ${names(step.r)} → ${names(step.a)}`);
    stepText.title = `pass ${text(step.p)}: ${data.rules[step.l].n} at ${step.s}`;
  }
  stepInput.setAttribute('aria-valuetext', stepText.textContent);
}

function setStep(step) {
  if (!data.steps.length) return;
  state.step = Math.min(data.steps.length, Math.max(0, step));
  showStep();
  const current = data.steps[state.step - 1];
  if (current && state.step < data.steps.length) {
    if (current.b.length) show(0, boxOf(graphs[0], current.b[0]));
    if (current.f.length) show(1, boxOf(graphs[1], current.f[0]));
  }
  redraw();
}

function play() {
  if (!data.steps.length) return;
  const button = document.getElementById('play');
  if (playing) {
    clearInterval(playing);
    playing = null;
  } else {
    if (state.step === data.steps.length) setStep(0);
    const pace = Math.max(60, Math.min(700, 30000 / data.steps.length));
    playing = setInterval(() => {
      setStep(state.step + 1);
      if (state.step === data.steps.length) play();
    }, pace);
  }
  button.textContent = playing ? '❚❚' : '▶';
  button.setAttribute('aria-label', playing ? 'Pause' : 'Play the rewrites');
}

function makeSteps() {
  const bar = document.getElementById('steps');
  if (!data.steps.length) {
    bar.replaceChildren(make('span', { className: 'quiet', textContent: 'No rewrite: both graphs are the same.' }));
    return;
  }
  stepInput = make('input', { type: 'range', min: 0, max: data.steps.length, step: 1, id: 'step' });
  stepInput.setAttribute('aria-label', 'Rewrite');
  stepInput.oninput = () => setStep(Number(stepInput.value));
  stepText = make('span', { id: 'step-text' });
  const button = (id, label, name, action) => {
    const element = make('button', { id, textContent: label, onclick: action, title: name });
    element.setAttribute('aria-label', name);
    return element;
  };
  bar.replaceChildren(make('span', { className: 'quiet', textContent: 'Rewrites' }),
    button('back', '‹', 'The rewrite before ( [ )', () => setStep(state.step - 1)),
    button('play', '▶', 'Play the rewrites ( p )', play),
    button('forth', '›', 'The next rewrite ( ] )', () => setStep(state.step + 1)), stepInput, stepText);
  showStep();
}
