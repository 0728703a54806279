// Draws what the data block has, and notes in the document when it is done.

function memoryNote(model) {
  const timeline = model.data.timeline, arena = model.data.arena;
  let text = `${formatBytes(model.peakBytes)} alive at the peak of the step, command ${model.peakAt}: ${model.commandName(model.peakAt)}; the arena takes ${formatBytes(arena)}` +
    (arena > model.peakBytes ? `, as packing loses ${formatBytes(arena - model.peakBytes)}. ` : '. ');
  if (model.before)
    text += `If nothing were recomputed it would be ${formatBytes(timeline.before.peak)}, at ${timeline.before.op || 'the end of the step'} (${(100 * (arena / timeline.before.peak - 1)).toFixed(1)} % now). `;
  else text += 'Nothing is recomputed. ';
  if (timeline && timeline.budget) text += `The budget is ${formatBytes(timeline.budget)}. `;
  if (model.data.microBatches > 1) text += `The first ${model.data.microCommands} commands run for each of ${model.data.microBatches} micro-batches.`;
  return text;
}

function memoryLegend(model) {
  const entries = GROUPS.map((group) => legendEntry(theme.get(group.name), group.name)).reverse();
  if (model.before) entries.push(legendEntry(theme.get('before'), 'before: nothing recomputed', 'line'));
  const phases = [['forward', 'f'], ['backward', 'b'], ['again', 'r'], ['update', 'u']];
  for (const [colour, letter] of phases)
    if (model.commands.phase.includes(letter)) entries.push(legendEntry(theme.get(colour), `band: ${PHASES[letter]}`));
  return entries;
}

function startStep(data) {
  const model = new StepModel(data), view = new StepView(model);
  const byId = (id) => document.getElementById(id);
  let lists = null;
  const memory = new MemoryPicture(model, view, byId('memory'), byId('memory-tip'));
  const map = new ArenaMap(model, view, byId('arena'), byId('arena-tip'), byId('arena-hint'), (i) => lists.showChosen(i));
  lists = new StepLists(model, map);
  byId('memory-note').textContent = memoryNote(model);
  const fillLegend = () => byId('memory-legend').replaceChildren(...memoryLegend(model));
  fillLegend();
  document.addEventListener('themechange', fillLegend);
  return {model, view, memory, map, lists};
}

function startPage() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const page = {data, charts: []};
  if (data.step) page.step = startStep(data.step);
  for (const figure of document.querySelectorAll('[data-chart]'))
    page.charts.push(new LineChart(figure, data.charts[Number(figure.dataset.chart)]));
  for (const surface of Surface.all) surface.paint();
  // For tests and for whoever wonders: when it was drawn, in milliseconds since the page was asked for.
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  document.documentElement.dataset.buffers = String(page.step ? page.step.model.count : 0);
  document.documentElement.dataset.commands = String(page.step ? page.step.model.commandCount : 0);
  document.documentElement.dataset.charts = String(page.charts.length);
  return page;
}

const gcPage = startPage();
