// Curves of a run over its steps or seconds.

const CURVES = ['accent', 'gradients', 'activations', 'optimizer'];

class LineChart {
  constructor(figure, spec) {
    Object.assign(this, {figure, spec, at: null});
    this.canvas = figure.querySelector('canvas');
    this.tip = figure.querySelector('.tip');
    this.measure();
    this.surface = new Surface(this.canvas, (context, width, height) => this.draw(context, width, height));
    this.canvas.setAttribute('aria-label', this.summary());
    this.canvas.addEventListener('pointermove', (event) => this.hover(this.surface.place(event)));
    this.canvas.addEventListener('pointerdown', (event) => this.hover(this.surface.place(event)));
    this.canvas.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && this.leave());
    this.canvas.addEventListener('blur', () => this.leave());
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    document.addEventListener('themechange', () => this.fillLegend());
    this.fillLegend();
    this.addTable();
  }

  measure() {
    const values = this.spec.series.flatMap((series) => series.y.filter((y) => y !== null)).concat(this.spec.levels.map((level) => level.y));
    const places = this.spec.series.flatMap((series) => series.x);
    const least = (list, start) => list.reduce((a, b) => Math.min(a, b), start), most = (list, start) => list.reduce((a, b) => Math.max(a, b), start);
    this.low = Math.min(this.spec.fromZero ? 0 : Infinity, least(values, Infinity));
    this.high = most(values, -Infinity);
    if (!Number.isFinite(this.low)) this.low = 0;
    if (!(this.high > this.low)) this.high = this.low + 1;
    this.high += (this.high - this.low) * 0.08;
    this.x0 = least(places, Infinity);
    this.x1 = most(places, -Infinity);
    if (!(this.x1 > this.x0)) [this.x0, this.x1] = [this.x0 - 0.5, this.x0 + 0.5];
  }

  // In words, for those who do not see it.
  summary() {
    const parts = this.spec.series.map((series) => {
      const known = series.y.filter((y) => y !== null);
      if (!known.length) return series.name;
      const text = (value) => formatValue(value, this.spec.y.unit);
      return `${series.name}: ${text(known[0])} to ${text(known[known.length - 1])}`;
    });
    return `${this.spec.title}, ${this.spec.y.label} over ${this.spec.x.label}. ${parts.join('. ')}`;
  }

  fillLegend() {
    const entries = this.spec.series.map((series, i) => legendEntry(theme.get(CURVES[i % 4]), series.name, series.points ? '' : 'line'));
    for (const level of this.spec.levels) entries.push(legendEntry(theme.get('faint'), `${level.name} ${formatValue(level.y, this.spec.y.unit)}`, 'line dashed'));
    this.figure.querySelector('.legend').replaceChildren(...entries);
  }

  draw(context, width, height) {
    const {spec} = this;
    const frame = this.frame = new Frame(width, height, {left: 68, right: 14, top: 14, bottom: 42}, this.x0, this.x1, this.low, this.high);
    drawAxes(context, frame, {label: spec.x.label, unit: spec.x.unit, whole: spec.x.unit === ''}, {label: spec.y.label, unit: spec.y.unit});
    spec.series.forEach((series, i) => this.drawSeries(context, frame, series, theme.get(CURVES[i % 4])));
    for (const level of spec.levels) {
      context.lineWidth = 1;
      context.strokeStyle = theme.get('faint');
      context.setLineDash([6, 4]);
      context.beginPath();
      context.moveTo(frame.left, frame.y(level.y));
      context.lineTo(frame.right, frame.y(level.y));
      context.stroke();
      context.setLineDash([]);
      const wide = context.measureText(level.name).width;
      context.globalAlpha = 0.75;
      context.fillStyle = theme.get('plot');
      context.fillRect(frame.right - wide - 6, frame.y(level.y) - 16, wide + 6, 14);
      context.globalAlpha = 1;
      context.fillStyle = theme.get('faint');
      context.textAlign = 'right';
      context.textBaseline = 'bottom';
      context.fillText(level.name, frame.right - 3, frame.y(level.y) - 2);
    }
    if (this.at === null) return;
    context.strokeStyle = theme.get('accent');
    context.beginPath();
    context.moveTo(frame.x(this.at), frame.top);
    context.lineTo(frame.x(this.at), frame.bottom);
    context.stroke();
  }

  drawSeries(context, frame, series, colour) {
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = series.x.length > 300 ? 1 : 1.6;
    context.beginPath();
    let drawing = false;
    series.x.forEach((x, i) => {
      if (series.y[i] === null) drawing = false;
      else if (drawing) context.lineTo(frame.x(x), frame.y(series.y[i]));
      else context.moveTo(frame.x(x), frame.y(series.y[i]));
      drawing = series.y[i] !== null;
    });
    context.stroke();
    if (!series.points && series.x.length > 1) return;
    series.x.forEach((x, i) => {
      if (series.y[i] === null) return;
      context.beginPath();
      context.arc(frame.x(x), frame.y(series.y[i]), 3.5, 0, 2 * Math.PI);
      context.fill();
    });
  }

  // Where the series has something, closest to x.
  nearest(series, x) {
    let low = 0, high = series.x.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (series.x[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low > 0 && x - series.x[low - 1] < series.x[low] - x ? low - 1 : low;
  }

  hover(place) {
    if (!this.frame || place.x < this.frame.left || place.x > this.frame.right) return this.leave();
    this.show(this.frame.valueX(place.x), place.y);
  }

  show(x, y) {
    const {spec} = this, main = spec.series[0];
    this.at = main.x[this.nearest(main, x)];
    const lines = spec.series.map((series, i) => {
      const at = this.nearest(series, x), where = series.x[at] === this.at ? '' : ` (at ${formatValue(series.x[at], spec.x.unit)})`;
      return element('div', {}, swatch(theme.get(CURVES[i % 4])), `${series.name} ${formatValue(series.y[at], spec.y.unit)}${where}`);
    });
    const head = spec.x.unit === 's' ? formatSeconds(this.at) : `${spec.x.label} ${formatNumber(this.at)}`;
    showTip(this.tip, this.surface, this.frame.x(this.at), y, element('b', {}, head), ...lines);
    this.surface.request();
  }

  leave() {
    if (this.at === null) return;
    this.at = null;
    this.tip.hidden = true;
    this.surface.request();
  }

  key(event) {
    const by = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20}[event.key], main = this.spec.series[0];
    if (!by) return;
    event.preventDefault();
    const now = this.at === null ? -by : this.nearest(main, this.at);
    this.show(main.x[Math.min(main.x.length - 1, Math.max(0, now + by))], 20);
  }

  // At most a hundred rows of it, spread evenly.
  addTable() {
    const details = element('details', {}, element('summary', {}, 'as a table'));
    details.addEventListener('toggle', () => {
      if (!details.open || details.childElementCount > 1) return;
      for (const series of this.spec.series) {
        const stride = Math.ceil(series.x.length / 100), rows = [];
        for (let i = 0; i < series.x.length; i += stride)
          rows.push(element('tr', {}, element('td', {}, formatValue(series.x[i], this.spec.x.unit)), element('td', {class: 'number'}, formatValue(series.y[i], this.spec.y.unit))));
        const head = element('tr', {}, element('th', {}, this.spec.x.label), element('th', {class: 'number'}, `${this.spec.y.label}, ${series.name}`));
        details.append(element('table', {class: 'list'}, head, ...rows));
      }
    });
    this.figure.append(details);
  }
}
