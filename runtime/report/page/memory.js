// Memory of the step over its commands: stacked by kind, with the step that recomputes nothing as a line.

// The part of the step that is looked at, shared by both pictures: commands from x0 to x1.
class StepView {
  constructor(model) {
    this.model = model;
    this.listeners = [];
    this.x0 = 0;
    this.x1 = model.commandCount;
  }
  set(x0, x1) {
    const n = this.model.commandCount, width = Math.min(n, Math.max(Math.min(n, 4), x1 - x0));
    this.x0 = Math.min(n - width, Math.max(0, x0));
    this.x1 = this.x0 + width;
    for (const listener of this.listeners) listener();
  }
}

const STEP_MARGINS = {left: 68, right: 12, top: 22, bottom: 48};

// A coloured band below the plot: the phase of each command.
function drawPhases(context, frame, model) {
  const colours = {f: theme.get('forward'), b: theme.get('backward'), r: theme.get('again'), u: theme.get('update')};
  const from = Math.max(0, Math.floor(frame.x0)), to = Math.min(model.commandCount, Math.ceil(frame.x1));
  for (let c = from; c < to;) {
    let end = c + 1;
    while (end < to && model.phase(end) === model.phase(c)) ++end;
    const left = Math.max(frame.left, frame.x(c)), right = Math.min(frame.right, frame.x(end));
    context.fillStyle = colours[model.phase(c)];
    context.fillRect(left, frame.bottom + 1, Math.max(0.6, right - left), 7);
    c = end;
  }
  context.textAlign = 'center';
  context.textBaseline = 'bottom';
  for (const span of model.phaseSpans) {
    const left = Math.max(frame.left, frame.x(span.from)), right = Math.min(frame.right, frame.x(span.to));
    if (span.from > 0 && left > frame.left && left < frame.right) {
      context.strokeStyle = theme.get('faint');
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(left, frame.top - 14);
      context.lineTo(left, frame.bottom);
      context.stroke();
      context.setLineDash([]);
    }
    context.fillStyle = theme.get('faint');
    if (right - left > context.measureText(span.name).width + 8) context.fillText(span.name, (left + right) / 2, frame.top - 4);
  }
}

class MemoryPicture {
  constructor(model, view, canvas, tip) {
    Object.assign(this, {model, view, tip, at: null});
    this.timeline = model.data.timeline;
    const highest = Math.max(model.peakBytes, model.data.arena, model.before ? this.timeline.before.peak : 0, 1);
    const budget = this.timeline ? this.timeline.budget : null;
    // A budget far above the peaks would flatten them.
    this.budget = budget && budget <= 1.3 * highest ? budget : null;
    this.ceiling = Math.max(highest, this.budget || 0) * 1.06;
    this.surface = new Surface(canvas, (context, width, height) => this.draw(context, width, height));
    view.listeners.push(() => this.surface.request());
    canvas.addEventListener('pointermove', (event) => this.hover(this.surface.place(event)));
    canvas.addEventListener('pointerdown', (event) => this.hover(this.surface.place(event)));
    canvas.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && this.leave());
    canvas.addEventListener('blur', () => this.leave());
    canvas.addEventListener('keydown', (event) => this.key(event));
    canvas.setAttribute('aria-label', this.summary());
  }

  summary() {
    const {model} = this, peak = model.commandName(model.peakAt);
    let text = `Memory over ${model.commandCount} commands. Peak ${formatBytes(model.peakBytes)} at command ${model.peakAt}, ${peak}.`;
    if (model.before) text += ` Without recomputation ${formatBytes(this.timeline.before.peak)}.`;
    return text + ' Arrow keys move over the commands.';
  }

  draw(context, width, height) {
    const {model, view} = this;
    const frame = new Frame(width, height, STEP_MARGINS, view.x0, view.x1, 0, this.ceiling);
    frame.strip = 6;
    this.frame = frame;
    drawAxes(context, frame, {label: 'commands of the step', unit: '', whole: true}, {label: 'alive', unit: 'bytes'});
    context.save();
    context.beginPath();
    context.rect(frame.left, 0, frame.right - frame.left, height);
    context.clip();
    for (let g = GROUPS.length - 1; g >= 0; --g) {
      this.outline(context, frame, model.live[g]);
      context.lineTo(frame.right + 1, frame.bottom);
      context.lineTo(frame.left - 1, frame.bottom);
      context.closePath();
      context.fillStyle = theme.get(GROUPS[g].name);
      context.fill();
    }
    if (model.before) {
      this.outline(context, frame, model.before);
      context.strokeStyle = theme.get('before');
      context.lineWidth = 1.8;
      context.stroke();
    }
    context.restore();
    drawPhases(context, frame, model);
    this.drawMarks(context, frame);
  }

  // A path in steps; where several commands share a pixel, the highest of them.
  outline(context, frame, values) {
    const from = Math.max(0, Math.floor(frame.x0)), to = Math.min(this.model.commandCount, Math.ceil(frame.x1));
    const together = Math.max(1, Math.floor((to - from) / (2 * (frame.right - frame.left))));
    context.beginPath();
    let begun = false;
    for (let c = from; c < to; c += together) {
      let highest = values[c];
      for (let i = c + 1; i < Math.min(to, c + together); ++i) highest = Math.max(highest, values[i]);
      if (!Number.isFinite(highest)) break;
      const y = frame.y(highest);
      if (begun) context.lineTo(frame.x(c), y);
      else context.moveTo(frame.x(c), y);
      begun = true;
      context.lineTo(frame.x(Math.min(to, c + together)), y);
    }
  }

  drawMarks(context, frame) {
    const {model} = this;
    const placed = [];
    if (this.budget) {
      const y = frame.y(this.budget);
      context.strokeStyle = theme.get('budget');
      context.lineWidth = 1.6;
      context.setLineDash([7, 4]);
      context.beginPath();
      context.moveTo(frame.left, y);
      context.lineTo(frame.right, y);
      context.stroke();
      context.setLineDash([]);
      this.label(context, frame, frame.left + 4, y - 4, `budget ${formatBytes(this.budget)}`, theme.get('budget'), placed, 'left');
    }
    this.peakMark(context, frame, model.peakAt, model.peakBytes, 'peak', theme.get('mark'), placed);
    if (model.before) {
      let highest = 0;
      for (let c = 1; c < model.data.microCommands; ++c) if (model.before[c] > model.before[highest]) highest = c;
      this.peakMark(context, frame, highest, this.timeline.before.peak, 'peak if nothing were recomputed', theme.get('before'), placed);
    }
    if (this.at === null) return;
    const x = frame.x(this.at + 0.5);
    if (x < frame.left || x > frame.right) return;
    context.strokeStyle = theme.get('accent');
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, frame.top);
    context.lineTo(x, frame.bottom);
    context.stroke();
  }

  peakMark(context, frame, command, bytes, name, colour, placed) {
    const x = frame.x(command + 0.5), y = frame.y(bytes);
    if (x < frame.left - 1 || x > frame.right + 1) return;
    context.fillStyle = colour;
    context.strokeStyle = theme.get('plot');
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, 4.5, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    const text = `${name} ${formatBytes(bytes)}`;
    const side = x + 10 + context.measureText(text).width > frame.right ? 'right' : 'left';
    this.label(context, frame, side === 'left' ? x + 9 : x - 9, y - 3, text, colour, placed, side);
  }

  // Text on a patch of the plot's colour, moved up or down where another is.
  label(context, frame, x, y, text, colour, placed, side) {
    const width = context.measureText(text).width;
    let left = Math.max(frame.left + 2, side === 'left' ? x : x - width);
    left = Math.min(left, frame.right - width - 2);
    for (let tries = 0; tries < 4; ++tries) {
      const clash = placed.find((p) => left < p.left + p.width + 6 && p.left < left + width + 6 && Math.abs(p.y - y) < 17);
      if (!clash) break;
      y = clash.y + 18;
    }
    placed.push({left, width, y});
    context.globalAlpha = 0.82;
    context.fillStyle = theme.get('plot');
    context.fillRect(left - 3, y - 14, width + 6, 17);
    context.globalAlpha = 1;
    context.fillStyle = colour;
    context.textAlign = 'left';
    context.textBaseline = 'bottom';
    context.fillText(text, left, y + 2);
  }

  hover(place) {
    if (!this.frame || !this.frame.contains(place.x, Math.min(place.y, this.frame.bottom))) return this.leave();
    this.show(Math.floor(this.frame.valueX(place.x)), place.x, place.y);
  }

  show(command, x, y) {
    const {model} = this;
    const c = Math.min(model.commandCount - 1, Math.max(0, command));
    this.at = c;
    const parts = GROUPS.map((group, g) => [group, model.bytesOf(g, c)]).filter(([, bytes]) => bytes > 0).reverse();
    const lines = parts.map(([group, bytes]) => element('div', {}, swatch(theme.get(group.name)), `${group.name} ${formatBytes(bytes)}`));
    if (model.before && Number.isFinite(model.before[c]))
      lines.push(element('div', {}, swatch(theme.get('before'), 'line'), `nothing recomputed: ${formatBytes(model.before[c])}`));
    showTip(this.tip, this.surface, x, y, element('b', {}, `${c} ${model.commandName(c)}`),
      element('div', {class: 'note'}, `${PHASES[model.phase(c)]}; ${formatBytes(model.total[c])} alive`), ...lines);
    this.surface.request();
  }

  leave() {
    if (this.at === null) return;
    this.at = null;
    this.tip.hidden = true;
    this.surface.request();
  }

  key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20}[event.key];
    if (!step) return;
    event.preventDefault();
    const {model, view} = this;
    const next = this.at === null ? model.peakAt : Math.min(model.commandCount - 1, Math.max(0, this.at + step));
    if (next < view.x0 || next >= view.x1) view.set(next - (view.x1 - view.x0) / 2, next + (view.x1 - view.x0) / 2);
    const frame = new Frame(this.surface.width, this.surface.height, STEP_MARGINS, view.x0, view.x1, 0, this.ceiling);
    this.show(next, frame.x(next + 0.5), frame.top + 30);
  }
}
