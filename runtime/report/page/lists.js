// Lists beside the pictures: what is chosen, the largest at the peak, modules, all buffers, the search.

const SHOWN_AT_FIRST = 14;

// A table of rows, the first of them; a button brings more.
function growingTable(place, heads, count, rowOf) {
  const body = element('tbody', {});
  const head = element('tr', {}, ...heads.map(([text, style]) => element('th', {class: style || '', scope: 'col'}, text)));
  const button = element('button', {type: 'button', class: 'more'});
  let shown = 0;
  const show = (many) => {
    for (const end = Math.min(count, shown + many); shown < end; ++shown) body.append(rowOf(shown));
    button.hidden = shown >= count;
    button.textContent = count - shown > 200 ? `show 200 of ${count - shown} more` : `show ${count - shown} more`;
  };
  button.addEventListener('click', () => show(200));
  place.replaceChildren(element('table', {class: 'list'}, element('thead', {}, head), body), button);
  show(SHOWN_AT_FIRST);
}

class StepLists {
  constructor(model, map) {
    Object.assign(this, {model, map, query: ''});
    const byId = (id) => document.getElementById(id);
    this.chosenPanel = byId('chosen');
    this.found = byId('found');
    this.fillLargest(byId('largest'));
    this.fillBefore(byId('before-section'), byId('largest-before'));
    this.fillDepths(byId('depth'));
    byId('largest-title').textContent = `Largest at the peak: ${formatBytes(model.peakBytes)} at command ${model.peakAt}`;
    byId('search').addEventListener('input', (event) => this.search(event.target.value));
    byId('search').addEventListener('keydown', (event) => event.key === 'Enter' && map.step(1));
    byId('colour').addEventListener('change', (event) => this.recolour(event.target.value, map.depth));
    if (!model.data.saved) byId('colour').querySelector('[value=fate]').textContent = 'made again';
    byId('depth').addEventListener('change', (event) => this.recolour(map.mode, Number(event.target.value)));
    byId('zoom-in').addEventListener('click', () => map.zoomCentre(1.6));
    byId('zoom-out').addEventListener('click', () => map.zoomCentre(1 / 1.6));
    byId('reset').addEventListener('click', () => map.reset());
    const all = byId('all');
    all.addEventListener('toggle', () => all.open && this.fillAll());
    document.addEventListener('themechange', () => this.repaint());
    this.repaint();
  }

  repaint() {
    this.fillModules(document.getElementById('modules'));
    this.fillLegend(document.getElementById('arena-legend'));
    for (const mark of document.querySelectorAll('[data-group]')) mark.style.background = theme.get(mark.dataset.group);
  }

  kindCell(group, text) {
    const mark = swatch(theme.get(group));
    mark.dataset.group = group;
    return element('td', {class: 'kind'}, mark, text);
  }

  nameButton(i) {
    return element('button', {type: 'button', class: 'name', onclick: () => {
      this.map.choose(i);
      this.map.showBuffer(i);
      this.map.canvas.scrollIntoView({block: 'nearest'});
    }}, this.model.names[i]);
  }

  bytesCell(bytes) { return element('td', {class: 'number', title: `${bytes} bytes`}, formatBytes(bytes)); }

  fillLargest(place) {
    const {model} = this, list = model.sorted((i) => model.livesAt(i, model.peakAt));
    growingTable(place, [['tensor'], ['kind'], ['size', 'number']], list.length, (row) => {
      const i = list[row], group = GROUPS[model.group[i]].name;
      const why = this.model.data.saved ? [element('span', {class: 'why'}, model.reasons(i).join('; '))] : [];
      return element('tr', {}, element('td', {}, this.nameButton(i), ...why), this.kindCell(group, model.data.kinds[model.buffers.kind[i]]), this.bytesCell(model.buffers.bytes[i]));
    });
  }

  // Tensors of the step that recomputes nothing, as its compiler named them: they are in no buffer of this plan.
  fillBefore(section, place) {
    const {timeline} = this.model.data;
    if (!this.model.before) return;
    section.hidden = false;
    const {alive} = timeline.before, rows = alive.name.map((name, i) => ({name, kind: alive.kind[i], bytes: alive.bytes[i]}));
    if (alive.rest > 0) {
      const throughout = alive.rest === timeline.persistent;
      rows.push({name: throughout ? 'weights, state, input, library pool' : 'all others', kind: throughout ? 'persistent' : 'not named', bytes: alive.rest});
      rows.sort((a, b) => b.bytes - a.bytes);
    }
    const groups = {persistent: 'weights', 'not named': 'input', gradient: 'gradients', workspace: 'workspace'};
    growingTable(place, [['tensor'], ['kind'], ['size', 'number']], rows.length, (row) => element('tr', {}, element('td', {}, rows[row].name),
      this.kindCell(groups[rows[row].kind] || 'activations', rows[row].kind), this.bytesCell(rows[row].bytes)));
  }

  fillDepths(select) {
    const {model} = this, deepest = model.deepest();
    let usual = 0;
    for (let depth = 1; depth <= deepest; ++depth) {
      // A grouping in which one module has most of the bytes tells little.
      const bytes = new Map();
      let all = 0;
      for (let i = 0; i < model.count; ++i) {
        if (!model.livesAt(i, model.peakAt) || !model.modules[i]) continue;
        const module = model.moduleAt(i, depth);
        bytes.set(module, (bytes.get(module) || 0) + model.buffers.bytes[i]);
        all += model.buffers.bytes[i];
      }
      if (!usual && (depth === deepest || Math.max(...bytes.values()) <= 0.6 * all)) usual = depth;
      select.append(element('option', {value: depth}, depth === deepest ? 'whole path' : `${depth} part${depth > 1 ? 's' : ''} of the path`));
    }
    select.value = usual;
    this.map.colourBy(this.map.mode, usual);
  }

  fillModules(place) {
    const {model, map} = this, modules = new Map();
    for (let i = 0; i < model.count; ++i) {
      if (!model.livesAt(i, model.peakAt)) continue;
      const name = model.moduleAt(i, map.depth);
      if (!modules.has(name)) modules.set(name, {name, bytes: 0, groups: new Float64Array(GROUPS.length)});
      const entry = modules.get(name);
      entry.bytes += model.alignedBytes(i);
      entry.groups[model.group[i]] += model.alignedBytes(i);
    }
    const rows = [...modules.values()].sort((a, b) => b.bytes - a.bytes), most = rows.length ? rows[0].bytes : 1;
    growingTable(place, [['module'], ['', 'bar'], ['size', 'number']], rows.length, (at) => {
      const row = rows[at], bar = element('div', {role: 'img', 'aria-label': GROUPS.map((group, g) => row.groups[g] > 0 ? `${group.name} ${formatBytes(row.groups[g])}` : '').filter(Boolean).join(', ')});
      bar.title = bar.getAttribute('aria-label');
      GROUPS.forEach((group, g) => {
        if (row.groups[g] <= 0) return;
        const part = element('span', {style: `width: ${100 * row.groups[g] / most}%`});
        part.dataset.group = group.name;
        part.style.background = theme.get(group.name);
        bar.append(part);
      });
      const label = map.mode === 'module' ? [swatch(map.moduleColours.get(row.name)), row.name] : [row.name];
      return element('tr', {}, element('td', {}, ...label), element('td', {class: 'bar'}, bar), this.bytesCell(row.bytes));
    });
  }

  fillLegend(place) {
    const {map, model} = this;
    if (map.mode === 'kind') place.replaceChildren(...GROUPS.map((group) => legendEntry(theme.get(group.name), group.name)));
    else if (map.mode === 'module') {
      const entries = [...map.moduleColours].slice(0, 24).map(([name, colour]) => legendEntry(colour, name));
      if (map.moduleColours.size > 24) entries.push(`and ${map.moduleColours.size - 24} more`);
      place.replaceChildren(...entries);
    } else {
      const entries = [legendEntry(theme.get('again'), 'made again in the backward pass')];
      if (model.data.saved)
        entries.push(legendEntry(theme.get('forward'), 'made in the forward pass, not kept'), legendEntry(theme.get('activations'), 'kept for the backward pass'));
      place.replaceChildren(...entries, legendEntry(theme.get('line'), 'all others'));
    }
    if (map.mode !== 'fate' && model.commands.phase.includes('r')) place.append(legendEntry(theme.get('again'), 'left edge: made again'));
    place.append(legendEntry(theme.get('mark'), 'peak', 'line dashed'));
  }

  recolour(mode, depth) {
    this.map.colourBy(mode, depth);
    this.repaint();
  }

  search(text) {
    const {model, map} = this;
    this.query = text.trim().toLowerCase();
    if (!this.query) {
      this.found.textContent = '';
      map.search(null);
    } else {
      const matches = new Uint8Array(model.count);
      let count = 0, bytes = 0;
      for (let i = 0; i < model.count; ++i) {
        matches[i] = model.names[i].toLowerCase().includes(this.query) ? 1 : 0;
        count += matches[i];
        if (matches[i] && model.livesAt(i, model.peakAt)) bytes += model.alignedBytes(i);
      }
      this.found.textContent = `${count} of ${model.count} buffers, ${formatBytes(bytes)} at the peak`;
      map.search(matches);
    }
    if (document.getElementById('all').open) this.fillAll();
  }

  fillAll() {
    const {model, map} = this, b = model.buffers, list = model.sorted((i) => !map.matches || map.matches[i]);
    const heads = [['tensor'], ['kind', 'narrow-off'], ['size', 'number'], ['address', 'number narrow-off'], ['commands', 'number'], ['why', 'narrow-off']];
    growingTable(document.getElementById('all-rows'), heads, list.length, (row) => {
      const i = list[row], kind = this.kindCell(GROUPS[model.group[i]].name, model.data.kinds[b.kind[i]]);
      kind.classList.add('narrow-off');
      return element('tr', {}, element('td', {}, this.nameButton(i)), kind, this.bytesCell(b.bytes[i]), element('td', {class: 'number narrow-off'}, String(b.offset[i])),
        element('td', {class: 'number'}, `${b.first[i]}–${b.last[i]}`), element('td', {class: 'narrow-off'}, model.reasons(i).join('; ')));
    });
  }

  showChosen(i) {
    if (i < 0) {
      this.chosenPanel.replaceChildren(element('span', {class: 'note'}, 'Click or tap a buffer to keep what is known about it here.'));
      return;
    }
    const rows = this.model.facts(i).flatMap(([name, text]) => [element('dt', {}, name), element('dd', {}, text)]);
    this.chosenPanel.replaceChildren(element('b', {}, this.model.names[i]), element('dl', {}, ...rows));
  }
}
