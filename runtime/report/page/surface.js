// A canvas with the page's colours, sharp on every screen, and the frame of a plot in it.

const theme = {
  values: new Map(),
  get(name) {
    if (!this.values.has(name))
      this.values.set(name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
    return this.values.get(name);
  },
};

class Surface {
  static all = [];

  // draw(context, width, height) paints all of it.
  constructor(canvas, draw) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.draw = draw;
    this.waiting = false;
    Surface.all.push(this);
    new ResizeObserver(() => {
      if (canvas.clientWidth !== this.width || canvas.clientHeight !== this.height) this.request();
    }).observe(canvas);
  }

  // In the next frame, however often it is asked for.
  request() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    const wide = Math.round(this.width * ratio), tall = Math.round(this.height * ratio);
    if (this.canvas.width !== wide || this.canvas.height !== tall) {
      this.canvas.width = wide;
      this.canvas.height = tall;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    this.context.font = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
    this.draw(this.context, this.width, this.height);
  }

  // Where a pointer is, in the units that `draw` paints in.
  place(event) {
    const bounds = this.canvas.getBoundingClientRect();
    return {x: event.clientX - bounds.left - this.canvas.clientLeft, y: event.clientY - bounds.top - this.canvas.clientTop};
  }
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  theme.values.clear();
  document.dispatchEvent(new Event('themechange'));
  for (const surface of Surface.all) surface.request();
});

// Maps values to places inside of margins: x to the right, y upwards.
class Frame {
  constructor(width, height, margins, x0, x1, y0, y1) {
    Object.assign(this, {width, height, x0, x1, y0, y1});
    this.left = margins.left;
    this.top = margins.top;
    this.right = width - margins.right;
    this.bottom = height - margins.bottom;
  }
  x(value) { return this.left + (value - this.x0) / (this.x1 - this.x0) * (this.right - this.left); }
  y(value) { return this.bottom - (value - this.y0) / (this.y1 - this.y0) * (this.bottom - this.top); }
  valueX(place) { return this.x0 + (place - this.left) / (this.right - this.left) * (this.x1 - this.x0); }
  valueY(place) { return this.y0 + (this.bottom - place) / (this.bottom - this.top) * (this.y1 - this.y0); }
  contains(x, y) { return x >= this.left && x <= this.right && y >= this.top && y <= this.bottom; }
}

// Grid lines and labels of both axes. An axis: {label, unit, whole}.
function drawAxes(context, frame, xAxis, yAxis) {
  const inX = axisUnit(xAxis.unit, frame.x1), inY = axisUnit(yAxis.unit, frame.y1);
  const yTicks = ticks(frame.y0 / inY.factor, frame.y1 / inY.factor, (frame.bottom - frame.top) / 36);
  const xTicks = ticks(frame.x0 / inX.factor, frame.x1 / inX.factor, (frame.right - frame.left) / 80, xAxis.whole);
  context.lineWidth = 1;
  context.strokeStyle = theme.get('line');
  context.fillStyle = theme.get('faint');
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const tick of yTicks) {
    const at = Math.round(frame.y(tick * inY.factor)) + 0.5;
    context.beginPath();
    context.moveTo(frame.left, at);
    context.lineTo(frame.right, at);
    context.stroke();
    context.fillText(formatTick(tick, yTicks[1] - yTicks[0]), frame.left - 6, at);
  }
  context.textBaseline = 'top';
  for (const tick of xTicks) {
    const at = Math.round(frame.x(tick * inX.factor)) + 0.5;
    context.beginPath();
    context.moveTo(at, frame.bottom);
    context.lineTo(at, frame.bottom + 4);
    context.stroke();
    const text = formatTick(tick, xTicks[1] - xTicks[0]), half = context.measureText(text).width / 2;
    context.textAlign = 'left';
    context.fillText(text, Math.min(at - half, frame.width - 2 * half - 3), frame.bottom + 7 + (frame.strip || 0));
  }
  context.textAlign = 'center';
  context.textBaseline = 'bottom';
  context.fillText(xAxis.label + (inX.name ? `, ${inX.name}` : ''), (frame.left + frame.right) / 2, frame.height - 3);
  context.save();
  context.translate(10, (frame.top + frame.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = 'middle';
  context.fillText(yAxis.label + (inY.name ? `, ${inY.name}` : ''), 0, 0);
  context.restore();
}

// Beside the place, inside of the plot.
function showTip(tip, surface, x, y, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const left = x + 14 + tip.offsetWidth <= surface.width ? x + 14 : Math.max(4, x - 14 - tip.offsetWidth);
  const top = Math.min(Math.max(4, y + 12), Math.max(4, surface.height - tip.offsetHeight - 6));
  tip.style.left = left + 'px';
  tip.style.top = top + 'px';
}
