'use strict';
// Numbers as people read them, scales with round steps, and elements.

window.addEventListener('error', (event) => {
  document.documentElement.dataset.error = String(event.message);
});

function formatBytes(bytes) {
  if (bytes >= 10 * 2 ** 30) return (bytes / 2 ** 30).toFixed(1) + ' GiB';
  if (bytes >= 2 ** 20) return (bytes / 2 ** 20).toFixed(1) + ' MiB';
  if (bytes >= 2 ** 10) return (bytes / 2 ** 10).toFixed(1) + ' KiB';
  return bytes + ' bytes';
}

function formatExactBytes(bytes) {
  return bytes >= 1024 ? `${bytes} bytes (${formatBytes(bytes)})` : `${bytes} bytes`;
}

function formatSeconds(seconds) {
  if (seconds >= 1) return seconds.toPrecision(4) + ' s';
  if (seconds >= 1e-3) return (1e3 * seconds).toPrecision(3) + ' ms';
  return (1e6 * seconds).toPrecision(3) + ' µs';
}

function formatNumber(value) {
  if (!Number.isFinite(value)) return 'not a number';
  if (Number.isInteger(value)) return value.toLocaleString('en-US');
  return String(Number(value.toPrecision(5)));
}

// A value of a chart with its unit.
function formatValue(value, unit) {
  if (value === null) return 'not a number';
  if (unit === 'bytes') return formatBytes(value);
  if (unit === 's') return formatSeconds(value);
  return formatNumber(value) + (unit ? ' ' + unit : '');
}

// In what an axis up to `highest` is labelled: values are divided by `factor`.
function axisUnit(unit, highest) {
  if (unit === 'bytes') {
    if (highest >= 10 * 2 ** 30) return {factor: 2 ** 30, name: 'GiB'};
    if (highest >= 4 * 2 ** 20) return {factor: 2 ** 20, name: 'MiB'};
    return highest >= 4 * 2 ** 10 ? {factor: 2 ** 10, name: 'KiB'} : {factor: 1, name: 'bytes'};
  }
  if (unit === 's') {
    if (highest >= 2) return {factor: 1, name: 's'};
    return highest >= 2e-3 ? {factor: 1e-3, name: 'ms'} : {factor: 1e-6, name: 'µs'};
  }
  return {factor: 1, name: unit};
}

// 1, 2 or 5 times a power of ten, about `least`.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5])
    if (factor * power >= least * 0.75) return factor * power;
  return 10 * power;
}

// Round values from low to high, about `count` of them; whole ones where `whole`.
function ticks(low, high, count, whole) {
  if (!(high > low)) return [low];
  let step = niceStep((high - low) / Math.max(1, count));
  if (whole) step = Math.max(1, step);
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12) + 1e-300; ++i) values.push(i === 0 ? 0 : i * step);
  return values;
}

function formatTick(value, step) {
  const digits = Math.max(0, Math.min(8, -Math.floor(Math.log10(step || 1) + 1e-9)));
  return Math.abs(value) >= 1e4 || digits === 0 ? Math.round(value).toLocaleString('en-US') : value.toFixed(digits);
}

// Children are elements or text, which is never taken for HTML.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === 'onclick') made.addEventListener('click', value);
    else if (name === 'style') made.style.cssText = value;
    else made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function swatch(colour, style) {
  const made = element('span', {class: 'swatch ' + (style || '')});
  if (style) made.style.borderTopColor = colour;
  else made.style.background = colour;
  return made;
}

function legendEntry(colour, text, style) {
  return element('span', {}, swatch(colour, style), text);
}
