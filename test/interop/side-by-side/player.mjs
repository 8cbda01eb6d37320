// Plays one sequence of requests on both servers, step by step: compares every answer, what is stored afterwards, whether its version moved, and the events of watches.
// It ends where the two have come to differ in what they store: all that followed would be a consequence.
import { compareAnswers, steady } from './answers.mjs';
import { listForms } from './steps.mjs';

const json = { 'content-type': 'application/json' };
const sides = ['upstream', 'sagong'];
/** No step has this name: a watch that has shown it has shown all before it. */
const lastName = 'zz-last';

/** The events of a watch up to the last thing's. */
function eventsOf(lines) {
  const end = lines.findIndex((line) => line.includes(`"${lastName}"`));
  const events = lines.slice(0, end + 1).map((line) => JSON.parse(line));
  const columns = events[0]?.object.columnDefinitions;
  for (const { object } of events) steady(object, columns);
  return events.filter(({ type }) => type !== 'BOOKMARK');
}

export class Player {
  #pair;
  #add;
  #trace;
  #watches = [];
  requests = 0;

  /** `add(form, difference, told)` hears of every difference. */
  constructor(pair, add, trace = () => {}) {
    [this.#pair, this.#add, this.#trace] = [pair, add, trace];
  }

  /** Sends a request to both; `bodies` has one for either. */
  both({ method, path, headers = {}, bodies = [] }) {
    this.requests += 1;
    const failed = (error) => ({ status: 0, headers: {}, text: error.message });
    return Promise.all(sides.map((side, at) => this.#pair[side].call(method, path, { headers, ...(bodies[at] !== undefined && { body: bodies[at] }) }).catch(failed)));
  }

  post(path, body) {
    return this.both({ method: 'POST', path, headers: json, bodies: Array(2).fill(JSON.stringify(body)) });
  }

  /** Sends a request and compares the answers, without looking at what is stored. */
  async compare(form, request) {
    return this.#compare(form, await this.both(request), `${request.method} ${request.path} ${request.bodies?.[0] ?? ''}`);
  }

  #compare(form, answers, told) {
    const found = compareAnswers(...answers);
    for (const difference of found) this.#add(form, difference, told);
    return found.length === 0;
  }

  /** Starts watches of a kind's things, from now on: of `shapes` each. */
  async watch(kind, shapes, name) {
    const lists = await this.both({ method: 'GET', path: `${kind.collection}?limit=1` });
    const versions = lists.map(({ text }) => JSON.parse(text).metadata?.resourceVersion);
    for (const shape of shapes) {
      const selector = { label: '&labelSelector=tier%3Da', field: `&fieldSelector=metadata.name!%3D${name}` }[shape] ?? '';
      const headers = listForms[shape] ? { accept: listForms[shape].replace('List', '') } : {};
      const open = sides.map((side, at) => this.#pair[side].watch(`${kind.collection}?watch=true&resourceVersion=${versions[at]}${selector}`, headers));
      this.#watches.push({ kind, shape, open });
    }
  }

  /** One step about a thing. False: the two differ from here on. */
  async step(thing, request) {
    const told = `${thing.kind.kind} ${request.method} ${request.path} ${JSON.stringify(request.headers)} ${String(request.bodies?.[0] ?? '').slice(0, 1500)}`;
    const answers = await this.both(request);
    this.#trace(told, answers);
    this.#compare(request.form, answers, told);
    return this.refresh(thing, `${request.form}, then stored`, told);
  }

  /** Reads a thing from both again. */
  async refresh(thing, form, told) {
    const answers = await this.both({ method: 'GET', path: `${thing.kind.collection}/${thing.name}` });
    const alike = this.#compare(form, answers, told);
    const before = thing.last;
    thing.last = answers.map(({ status, text }) => (status === 200 ? JSON.parse(text) : undefined));
    const moved = [0, 1].map((at) => before[at]?.metadata.resourceVersion !== thing.last[at]?.metadata.resourceVersion);
    if (alike && moved[0] !== moved[1]) this.#add(form, { name: moved[0] ? 'the version moved upstream only' : 'the version moved here only', example: '' }, told);
    if (alike && moved[0] && before[0] && before[1]) thing.older.push(before);
    return alike && moved[0] === moved[1];
  }

  /** Waits until every watch has shown all, and compares the events. */
  async endWatches() {
    for (const kind of new Set(this.#watches.map((one) => one.kind))) await this.#makeLast(kind);
    for (const { kind, shape, open } of this.#watches) {
      if (kind.noLast) continue;
      await Promise.all(open.map((one) => one.until((line) => line.includes(`"${lastName}"`))));
      const events = open.map(({ lines }) => eventsOf(lines));
      const types = events.map((list) => list.map(({ type }) => type).join(' '));
      if (types[0] !== types[1]) this.#add(`watch ${shape}`, { name: 'types of events', example: `${types[0]} | ${types[1]}` }, kind.kind);
      else for (const [at, event] of events[0].entries()) this.#compare(`watch ${shape}`, [event, events[1][at]].map((one) => ({ status: 200, headers: {}, text: JSON.stringify(one.object) })), `${kind.kind} ${event.type}`);
    }
  }

  async #makeLast(kind) {
    const body = structuredClone(kind.valid);
    Object.assign(body.metadata, { name: lastName, labels: { tier: 'a' } });
    const answers = await this.post(kind.collection, body);
    kind.noLast = answers.some(({ status }) => status !== 201);
    await this.both({ method: 'DELETE', path: `${kind.collection}/${lastName}?gracePeriodSeconds=0` });
  }

  /** Ends the watches and removes the things, held back or not. */
  async end(things) {
    for (const { open } of this.#watches) for (const one of open) one.close();
    for (const { kind, name } of things) {
      const path = `${kind.collection}/${name}`;
      await this.both({ method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, bodies: Array(2).fill('{"metadata":{"finalizers":null}}') });
      await this.both({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` });
      await this.both({ method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, bodies: Array(2).fill('{"metadata":{"finalizers":null}}') });
    }
  }
}
