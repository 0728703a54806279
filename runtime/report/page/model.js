// The step: its buffers and commands as the data block has them, and what follows from these.

// In the order in which they are stacked; `kinds` are the plan's.
const GROUPS = [
  {name: 'weights', kinds: ['parameter', 'state']}, {name: 'optimizer', kinds: ['optimizer state']},
  {name: 'input', kinds: ['input']}, {name: 'gradients', kinds: ['gradient']},
  {name: 'activations', kinds: ['activation', 'metric']}, {name: 'workspace', kinds: ['workspace']},
];
const PHASES = {f: 'forward', b: 'backward', r: 'backward, runs again', u: 'update'};

function groupOfKind(kind) {
  const found = GROUPS.findIndex((group) => group.kinds.includes(kind));
  return found < 0 ? GROUPS.length - 1 : found;
}

class StepModel {
  constructor(data) {
    Object.assign(this, {data, strings: data.strings, buffers: data.buffers, commands: data.commands});
    this.count = data.buffers.name.length;
    this.commandCount = Math.max(1, data.commands.name.length);
    const groupOf = data.kinds.map(groupOfKind);
    this.group = data.buffers.kind.map((kind) => groupOf[kind]);
    this.names = data.buffers.name.map((index) => this.strings[index]);
    this.modules = data.buffers.module.map((index) => this.strings[index]);
    this.addUp();
    this.before = this.linePerCommand();
    this.phaseSpans = this.findPhases();
    this.fates = data.buffers.name.map((_, i) => this.fateOf(i));
  }

  // As the arena counts: in steps of 64 bytes.
  alignedBytes(i) { return Math.ceil(this.buffers.bytes[i] / 64) * 64; }
  commandName(c) { return this.commands.name.length ? this.strings[this.commands.name[c]] : ''; }
  phase(c) { return this.commands.phase[c] || 'b'; }
  madeAgain(i) { return this.phase(Math.max(0, this.buffers.first[i])) === 'r'; }
  livesAt(i, command) { return this.buffers.first[i] <= command && command <= this.buffers.last[i]; }

  // live[g][c]: bytes of the groups up to g at command c, one on the other.
  addUp() {
    const n = this.commandCount;
    this.live = GROUPS.map(() => new Float64Array(n + 1));
    for (let i = 0; i < this.count; ++i) {
      const bytes = this.alignedBytes(i), change = this.live[this.group[i]];
      change[Math.min(n, Math.max(0, this.buffers.first[i]))] += bytes;
      change[Math.min(n, Math.max(0, this.buffers.last[i] + 1))] -= bytes;
    }
    for (let g = 0; g < GROUPS.length; ++g) {
      for (let c = 1; c <= n; ++c) this.live[g][c] += this.live[g][c - 1];
      if (g > 0)
        for (let c = 0; c <= n; ++c) this.live[g][c] += this.live[g - 1][c];
    }
    this.total = this.live[GROUPS.length - 1];
    this.peakAt = 0;
    for (let c = 1; c < n; ++c)
      if (this.total[c] > this.total[this.peakAt]) this.peakAt = c;
    this.peakBytes = this.total[this.peakAt];
  }

  bytesOf(group, c) { return this.live[group][c] - (group > 0 ? this.live[group - 1][c] : 0); }

  // The step that recomputes nothing, each of its ops at the command where this step runs it first; an
  // op without a command counts where the next one runs. Null where it is the same step, or not told.
  linePerCommand() {
    const timeline = this.data.timeline;
    if (!timeline || !this.commands.phase.includes('r')) return null;
    const live = timeline.before.live, line = new Float64Array(this.commandCount);
    const commands = this.data.microCommands;
    let done = -1;
    for (let c = 0; c < commands; ++c) {
      const op = c + 1 === commands ? live.length - 1 : this.phase(c) === 'r' ? -1 : this.commands.op[c];
      line[c] = c > 0 ? line[c - 1] : live[0];
      if (op <= done) continue;
      line[c] = 0;
      while (done < Math.min(op, live.length - 1)) line[c] = Math.max(line[c], live[++done]);
    }
    for (let c = commands; c < this.commandCount; ++c) line[c] = NaN;
    return line;
  }

  // Spans to label: forward, backward, and the updates at the end where these are apart.
  findPhases() {
    const phase = this.commands.phase, n = phase.length, spans = [];
    const forward = phase.lastIndexOf('f') + 1;
    let update = n;
    while (update > forward && phase[update - 1] === 'u') --update;
    const mixed = phase.slice(forward, update).includes('u');
    if (forward > 0) spans.push({name: 'forward', from: 0, to: forward});
    if (update > forward) spans.push({name: mixed ? 'backward and updates' : 'backward', from: forward, to: update});
    if (n > update) spans.push({name: 'update', from: update, to: n});
    return spans;
  }

  held(i) { return this.buffers.holds[i] || []; }

  // kept, again (made again in the backward pass), dropped (made again later), other.
  fateOf(i) {
    if (this.madeAgain(i)) return 'again';
    const held = this.held(i), saved = this.data.saved;
    if (!held.length || !saved) return 'other';
    return held.some((value) => saved.kept[value]) ? 'kept' : 'dropped';
  }

  // Why this buffer is there, a line each.
  reasons(i) {
    const saved = this.data.saved, kind = this.data.kinds[this.buffers.kind[i]];
    // Ops in place put one value where another was.
    const held = this.held(i), alone = held.length === 1 && saved.name[held[0]] === this.names[i];
    if (held.length) return held.map((value, at) => (alone ? '' : `${at ? 'then' : 'first'} ${saved.name[value]}, `) + saved.reason[value]);
    if (kind === 'parameter' || kind === 'state' || kind === 'optimizer state') return ['there throughout: training goes on from it'];
    if (kind === 'input') return ['there throughout: the loader fills it'];
    if (kind === 'workspace') return ['scratch of its op'];
    if (kind === 'metric') return ['read after the step'];
    if (kind === 'gradient') return ['gradient of a parameter: from the op that makes it to its last reader'];
    if (this.madeAgain(i)) return ['made again for ops that run again after it'];
    if (!saved) return ['why it is kept or recomputed is not told by this plan'];
    return this.phase(this.buffers.first[i]) === 'f' ? ['no backward op reads it'] : ['made in the backward pass, for its next readers'];
  }

  // What is known of a buffer, as pairs of a name and a text.
  facts(i) {
    const b = this.buffers, first = Math.max(0, b.first[i]), last = b.last[i];
    const at = (c) => `${c} ${this.commandName(c)} (${PHASES[this.phase(c)]})`;
    const throughout = first === 0 && last >= this.commandCount - 1;
    const made = this.commands.seconds[first];
    const facts = [['kind', `${this.data.kinds[b.kind[i]]}, ${this.strings[b.type[i]]}`]];
    if (this.modules[i]) facts.push(['module', this.modules[i]]);
    if (!throughout) facts.push(['made by', this.commandName(first) + (made > 0 ? `, ${formatSeconds(made)} predicted` : '')]);
    facts.push(['bytes', formatExactBytes(b.bytes[i])], ['address', formatExactBytes(b.offset[i])]);
    facts.push(['alive', throughout ? `all ${this.commandCount} commands` : `from ${at(first)} to ${at(last)}`]);
    facts.push(['at the peak', this.livesAt(i, this.peakAt) ? 'yes' : 'no']);
    for (const reason of this.reasons(i)) facts.push(['why', reason]);
    return facts;
  }

  // The first `depth` parts of the module's path.
  moduleAt(i, depth) {
    const path = this.modules[i];
    return path ? path.split('.').slice(0, depth).join('.') : '(no module)';
  }

  deepest() { return this.modules.reduce((most, path) => Math.max(most, path ? path.split('.').length : 0), 1); }

  // Indices of the buffers, largest first.
  sorted(keep) {
    const list = [];
    for (let i = 0; i < this.count; ++i)
      if (keep(i)) list.push(i);
    return list.sort((a, b) => this.buffers.bytes[b] - this.buffers.bytes[a] || a - b);
  }
}
