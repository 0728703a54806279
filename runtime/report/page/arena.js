// Address over time: every buffer a rectangle, to move about in.

class ArenaMap {
  // onChoose(buffer or -1) is told what was clicked or stepped to.
  constructor(model, view, canvas, tip, hint, onChoose) {
    Object.assign(this, {model, view, canvas, tip, hint, onChoose, hovered: -1, chosen: -1, matches: null, mode: 'kind', depth: 1});
    this.top = Math.max(1, model.data.arena);
    this.y0 = 0;
    this.y1 = this.top;
    this.pointers = new Map();
    this.surface = new Surface(canvas, (context, width, height) => this.draw(context, width, height));
    this.paintBuffers();
    view.listeners.push(() => this.surface.request());
    document.addEventListener('themechange', () => this.paintBuffers());
    canvas.setAttribute('aria-label', `Address over time: ${model.count} buffers in ${formatBytes(this.top)}. ` +
      'Arrow keys move, plus and minus zoom, n and p go through the buffers from the largest, 0 shows all.');
    this.listen();
  }

  frameOf(width, height) {
    const frame = new Frame(width, height, STEP_MARGINS, this.view.x0, this.view.x1, this.y0, this.y1);
    frame.strip = 6;
    return frame;
  }

  setYs(y0, y1) {
    const tall = Math.min(this.top, Math.max(256, y1 - y0));
    this.y0 = Math.min(this.top - tall, Math.max(0, y0));
    this.y1 = this.y0 + tall;
  }

  isWhole() { return this.view.x1 - this.view.x0 >= this.model.commandCount && this.y1 - this.y0 >= this.top; }

  reset() {
    this.setYs(0, this.top);
    this.view.set(0, this.model.commandCount);
  }

  // Around a place of the picture, which stays where it is.
  zoom(factor, x, y) {
    const frame = this.frame;
    const atX = frame.valueX(Math.min(frame.right, Math.max(frame.left, x))), atY = frame.valueY(Math.min(frame.bottom, Math.max(frame.top, y)));
    this.setYs(atY - (atY - this.y0) / factor, atY + (this.y1 - atY) / factor);
    this.view.set(atX - (atX - this.view.x0) / factor, atX + (this.view.x1 - atX) / factor);
  }

  zoomCentre(factor) { this.zoom(factor, (this.frame.left + this.frame.right) / 2, (this.frame.top + this.frame.bottom) / 2); }

  // By parts of what is seen.
  move(right, up) {
    const {view} = this, wide = view.x1 - view.x0, tall = this.y1 - this.y0;
    this.setYs(this.y0 + up * tall, this.y1 + up * tall);
    view.set(view.x0 + right * wide, view.x1 + right * wide);
  }

  // So that a buffer fills a part of the picture.
  showBuffer(i) {
    const b = this.model.buffers, from = Math.max(0, b.first[i]), to = b.last[i] + 1;
    const wide = Math.max(12, (to - from) * 1.6), tall = Math.max(1024, b.bytes[i] * 4);
    const x = (from + to) / 2, y = b.offset[i] + b.bytes[i] / 2;
    this.setYs(y - tall / 2, y + tall / 2);
    this.view.set(x - wide / 2, x + wide / 2);
  }

  choose(i) {
    this.chosen = i;
    this.surface.request();
    this.onChoose(i);
  }

  search(matches) {
    this.matches = matches;
    this.surface.request();
  }

  colourBy(mode, depth) {
    Object.assign(this, {mode, depth});
    this.paintBuffers();
  }

  // Colours of modules: far apart on the wheel for neighbours.
  paintBuffers() {
    const {model} = this;
    this.moduleColours = new Map();
    for (let i = 0; i < model.count; ++i) {
      const module = model.moduleAt(i, this.depth);
      if (!this.moduleColours.has(module))
        this.moduleColours.set(module, module === '(no module)' ? theme.get('input')
          : `hsl(${(this.moduleColours.size * 137.5) % 360} 48% ${theme.get('module-light')})`);
    }
    const fate = {again: theme.get('again'), kept: theme.get('activations'), dropped: theme.get('forward'), other: theme.get('line')};
    this.colours = model.group.map((group, i) => this.mode === 'kind' ? theme.get(GROUPS[group].name)
      : this.mode === 'module' ? this.moduleColours.get(model.moduleAt(i, this.depth)) : fate[model.fates[i]]);
    this.surface.request();
  }

  draw(context, width, height) {
    const {model} = this, b = model.buffers;
    const frame = this.frame = this.frameOf(width, height);
    drawAxes(context, frame, {label: 'commands of the step', unit: '', whole: true}, {label: 'address in the arena', unit: 'bytes'});
    context.save();
    context.beginPath();
    context.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
    context.clip();
    const named = [];
    let faint = false, colour = '';
    context.globalAlpha = 1;
    for (let i = 0; i < model.count; ++i) {
      const first = b.first[i], end = b.last[i] + 1, low = b.offset[i], high = low + b.bytes[i];
      if (end < frame.x0 || first > frame.x1 || high < frame.y0 || low > frame.y1) continue;
      const left = frame.x(first), wide = Math.max(0.7, frame.x(end) - left);
      const above = frame.y(high), tall = Math.max(0.5, frame.y(low) - above);
      const isFaint = this.matches !== null && !this.matches[i];
      if (isFaint !== faint) context.globalAlpha = isFaint ? 0.13 : 1;
      if (this.colours[i] !== colour) context.fillStyle = this.colours[i];
      faint = isFaint;
      colour = this.colours[i];
      context.fillRect(left, above, wide, tall);
      if (wide > 4 && tall > 4) {
        context.strokeStyle = theme.get('plot');
        context.lineWidth = 0.8;
        context.strokeRect(left, above, wide, tall);
        if (model.madeAgain(i)) {
          context.fillStyle = theme.get('again');
          context.fillRect(left, above, 2.5, tall);
          colour = '';
        }
        if (wide > 70 && tall > 15 && !faint) named.push([i, Math.max(left, frame.left), above, Math.min(left + wide, frame.right), tall]);
      }
    }
    context.globalAlpha = 1;
    for (const [i, left, above, right, tall] of named) this.nameIn(context, frame, i, left, above, right, tall);
    this.drawMarks(context, frame);
    context.restore();
    drawPhases(context, frame, model);
    this.canvas.style.touchAction = this.isWhole() ? 'pan-y' : 'none';
  }

  nameIn(context, frame, i, left, above, right, tall) {
    const room = right - left - 10;
    if (room < 50) return;
    let text = this.model.names[i];
    const most = Math.floor(room / 6.2);
    if (text.length > most) text = text.slice(0, Math.max(1, most - 1)) + '…';
    context.fillStyle = this.mode === 'fate' && this.model.fates[i] === 'other' ? theme.get('ink') : '#ffffff';
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    const middle = Math.min(Math.max(above, frame.top) + 9, above + tall - 7);
    context.fillText(text, left + 6, middle, room);
  }

  drawMarks(context, frame) {
    const x = frame.x(this.model.peakAt + 0.5);
    context.strokeStyle = theme.get('mark');
    context.setLineDash([3, 3]);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, frame.top);
    context.lineTo(x, frame.bottom);
    context.stroke();
    context.setLineDash([]);
    for (const [i, width] of [[this.hovered, 1.5], [this.chosen, 2.5]]) {
      if (i < 0) continue;
      const b = this.model.buffers, left = frame.x(b.first[i]), above = frame.y(b.offset[i] + b.bytes[i]);
      const right = frame.x(b.last[i] + 1), below = frame.y(b.offset[i]);
      context.strokeStyle = theme.get('mark');
      context.lineWidth = width;
      context.strokeRect(left - 1, above - 1, Math.max(2, right - left) + 2, Math.max(2, below - above) + 2);
    }
  }

  // What lies under a place; where nothing does, the largest close by: some are thinner than a pixel.
  bufferAt(x, y) {
    const {frame, model} = this, b = model.buffers;
    if (!frame || !frame.contains(x, y)) return -1;
    const command = frame.valueX(x), address = frame.valueY(y);
    const nearX = 3 * (frame.x1 - frame.x0) / (frame.right - frame.left), nearY = 3 * (frame.y1 - frame.y0) / (frame.bottom - frame.top);
    let close = -1;
    for (let i = 0; i < model.count; ++i) {
      const end = b.last[i] + 1, high = b.offset[i] + b.bytes[i];
      if (command < b.first[i] - nearX || command > end + nearX || address < b.offset[i] - nearY || address > high + nearY) continue;
      if (command >= b.first[i] && command < end && address >= b.offset[i] && address < high) return i;
      if (close < 0 || b.bytes[i] > b.bytes[close]) close = i;
    }
    return close;
  }

  hover(place) {
    const i = this.bufferAt(place.x, place.y);
    if (i !== this.hovered) this.surface.request();
    this.hovered = i;
    if (i < 0) {
      this.tip.hidden = true;
      return;
    }
    const lines = this.model.facts(i).filter(([name]) => name !== 'address' && name !== 'at the peak')
      .map(([name, text]) => element('div', {}, name === 'why' ? text : `${name}: ${text}`));
    showTip(this.tip, this.surface, place.x, place.y, element('b', {}, this.model.names[i]), ...lines);
  }

  leave() {
    this.hovered = -1;
    this.tip.hidden = true;
    this.surface.request();
  }

  listen() {
    const {canvas} = this;
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.moved(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener('pointerleave', () => this.leave());
    canvas.addEventListener('dblclick', (event) => {
      const {x, y} = this.surface.place(event);
      this.zoom(2.5, x, y);
    });
    canvas.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  // Scrolling the page past the picture must not zoom it.
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) {
      this.hint.hidden = false;
      clearTimeout(this.hintTimer);
      this.hintTimer = setTimeout(() => { this.hint.hidden = true; }, 1500);
      return;
    }
    event.preventDefault();
    const {x, y} = this.surface.place(event);
    this.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaMode ? 20 * event.deltaY : event.deltaY)) * 0.006), x, y);
    this.tip.hidden = true;
  }

  down(event) {
    this.canvas.focus({preventScroll: true});
    this.hint.hidden = true;
    this.pointers.set(event.pointerId, this.surface.place(event));
    this.canvas.setPointerCapture(event.pointerId);
    this.travelled = this.pointers.size > 1 ? Infinity : 0;
  }

  moved(event) {
    const place = this.surface.place(event), before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(place);
      return;
    }
    const others = [...this.pointers.keys()].filter((id) => id !== event.pointerId);
    this.pointers.set(event.pointerId, place);
    const {frame} = this;
    if (others.length === 0) {
      this.travelled += Math.abs(place.x - before.x) + Math.abs(place.y - before.y);
      if (this.travelled < 5) return;
      this.canvas.classList.add('dragging');
      this.move((before.x - place.x) / (frame.right - frame.left), (place.y - before.y) / (frame.bottom - frame.top));
    } else { // two fingers: what was between them stays between them
      const other = this.pointers.get(others[0]), apart = (p) => Math.max(20, Math.hypot(p.x - other.x, p.y - other.y));
      this.zoom(apart(place) / apart(before), (place.x + other.x) / 2, (place.y + other.y) / 2);
      this.move((before.x - place.x) / 2 / (frame.right - frame.left), (place.y - before.y) / 2 / (frame.bottom - frame.top));
    }
    this.tip.hidden = true;
  }

  up(event) {
    this.pointers.delete(event.pointerId);
    this.canvas.classList.remove('dragging');
    if (this.travelled >= 5) return;
    const {x, y} = this.surface.place(event);
    this.choose(this.bufferAt(x, y));
  }

  // The next buffer by size among those that the search shows.
  step(by) {
    const list = this.model.sorted((i) => !this.matches || this.matches[i]);
    if (!list.length) return;
    const at = list.indexOf(this.chosen);
    const next = list[at < 0 ? 0 : (at + by + list.length) % list.length];
    this.choose(next);
    this.keepInSight(next);
  }

  keepInSight(i) {
    const b = this.model.buffers;
    const seen = b.first[i] < this.view.x1 && b.last[i] + 1 > this.view.x0 && b.offset[i] < this.y1 && b.offset[i] + b.bytes[i] > this.y0;
    if (!seen) this.showBuffer(i);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      'ArrowLeft': () => this.move(-0.15, 0), 'ArrowRight': () => this.move(0.15, 0),
      'ArrowUp': () => this.move(0, 0.15), 'ArrowDown': () => this.move(0, -0.15),
      '+': () => this.zoomCentre(1.4), '=': () => this.zoomCentre(1.4), '-': () => this.zoomCentre(1 / 1.4),
      '0': () => this.reset(), 'Home': () => this.reset(), 'n': () => this.step(1), 'p': () => this.step(-1),
      'Enter': () => this.chosen >= 0 && this.showBuffer(this.chosen), 'Escape': () => this.choose(-1),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}
