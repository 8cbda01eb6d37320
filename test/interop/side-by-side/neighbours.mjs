#!/usr/bin/env node
// Plays recorded conversations (folders of JSON files: `{ about, steps: [{ id, method, path, headers?, body?, raw?, capture? }] }`) on upstream's apiserver and on ours, and before each
// step its neighbours: the same request with values changed, taken away, or taken from the same field elsewhere in the recording, as dry runs. Compares every answer.
// Prints the classes of differences, the most frequent first; ends with "N requests, N differ".
//
//   SAGONG_UPSTREAM_BIN=DIR node test/interop/side-by-side/neighbours.mjs --cases DIR [--only TEXT,TEXT] [--seed N] [--each N] [--minutes N] [--upstream URL --sagong URL]
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareAnswers } from './answers.mjs';
import { Tally } from './differences.mjs';
import { random } from './random.mjs';
import { pairOf } from './servers.mjs';

const text = { type: 'string' };
const { values: options } = parseArgs({ options: { cases: text, only: text, seed: text, each: text, minutes: text, upstream: text, sagong: text } });
const each = Number(options.each ?? 4);
const endsAt = Date.now() + Number(options.minutes ?? 60) * 60_000;
const chance = random(Number(options.seed ?? 1));
const json = { 'content-type': 'application/json' };
const longBody = 20_000;
const oddValues = ['', 'a', 'Bad Value!', '-a', 'x'.repeat(64), 'x'.repeat(260), '1', 'kubernetes.io/x', '1.2.3.4', 'fe80::1', '10%', '1Gi', 0, 1, -1, 65536, 2147483648, 1.5, true, false, null, [], {}, [null], [1], ['a', 'a'], { a: 1 }, { a: 'b' }];
const isObject = (value) => typeof value === 'object' && value !== null;
const bodyOf = ({ raw, body }) => raw ?? (body === undefined ? undefined : JSON.stringify(body));

function readCases(dir) {
  const names = readdirSync(dir, { recursive: true }).map(String).filter((name) => name.endsWith('.json')).sort();
  return names.map((name) => ({ name, steps: JSON.parse(readFileSync(join(dir, name), 'utf8')).steps }));
}

/** Field name -> all values that it has in the recording; items of a list stand under its name and `[]`. */
function valuesByField(cases) {
  const found = new Map();
  const note = (value, name) => {
    if (name !== '') found.set(name, (found.get(name) ?? new Map()).set(JSON.stringify(value), value));
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) note(inner, Array.isArray(value) ? `${name}[]` : key);
  };
  for (const { steps } of cases) for (const { body } of steps) if (isObject(body)) note(body, '');
  return new Map([...found].map(([name, values]) => [name, [...values.values()]]));
}

/** `[holder, key, name]` of each place inside a value. */
function places(value, name = '', found = []) {
  for (const key of Object.keys(value)) {
    const own = Array.isArray(value) ? `${name}[]` : key;
    found.push([value, key, own]);
    if (isObject(value[key])) places(value[key], own, found);
  }
  return found;
}

function changeOne(body, known) {
  const all = places(body).filter(([holder, key]) => holder !== body || !['apiVersion', 'kind'].includes(key) || chance.chance(0.05));
  if (all.length === 0) return;
  const [holder, key, name] = chance.pick(all);
  const way = chance.below(10);
  const value = holder[key];
  if (way < 4) holder[key] = structuredClone(chance.pick(known.get(name) ?? oddValues));
  else if (way === 4 && Array.isArray(holder)) holder.push(structuredClone(value));
  else if (way === 4) holder[chance.pick([...known.keys()].filter((other) => !other.endsWith('[]')))] = structuredClone(value);
  else if (way === 5 && Array.isArray(holder)) holder.splice(Number(key), 1);
  else if (way === 5) delete holder[key];
  else if (way === 6 && typeof value === 'number') holder[key] = chance.pick([value + 1, -value, value * 1000, String(value)]);
  else if (way === 6 && typeof value === 'string') holder[key] = chance.pick([value.toUpperCase(), `${value}x`, ` ${value}`, value.slice(1)]);
  else holder[key] = structuredClone(chance.pick(oddValues));
}

function neighbourOf(body, known) {
  const copy = structuredClone(body);
  for (let left = chance.pick([1, 1, 1, 2, 3]); left > 0; left -= 1) changeOne(copy, known);
  return JSON.stringify(copy);
}

const asDryRun = (path) => (path.includes('dryRun=') ? path : `${path}${path.includes('?') ? '&' : '?'}dryRun=All`);

/** The neighbours of a write; none of what no dry run can hold back. */
function neighbours({ method, path, headers, ...step }, known) {
  const body = bodyOf(step);
  if (!['POST', 'PUT', 'PATCH'].includes(method) || body === undefined || body.length > longBody || /reviews|\/token|\/binding|\/eviction/.test(path)) return [];
  let parsed;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  if (!isObject(parsed)) return [];
  return Array.from({ length: each }, () => ({ method, path: asDryRun(path), headers, raw: neighbourOf(parsed, known) }));
}

const filled = (value, names) => value.replace(/\$\{(\w+)\}/g, (whole, name) => names[name] ?? whole);

/** Sends a step to both servers, with what each of them calls the recording's names. */
function send(pair, names, { method, path, headers = {}, ...step }) {
  const body = bodyOf(step);
  return Promise.all(
    [pair.upstream, pair.sagong].map((server, side) => {
      const own = Object.fromEntries(Object.entries({ ...(body !== undefined && json), ...headers }).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.map(String) : filled(String(value), names[side])]));
      const request = { headers: own, ...(body !== undefined && { body: filled(body, names[side]) }) };
      return server.call(method, filled(path, names[side]), request).catch((error) => ({ status: 0, headers: {}, text: error.message }));
    }),
  );
}

function capture({ capture: wanted = {} }, answers, names) {
  for (const [side, answer] of answers.entries())
    for (const [name, path] of Object.entries(wanted)) {
      const value = answer.text.startsWith('{') ? path.split('.').reduce((inner, key) => inner?.[key], JSON.parse(answer.text)) : undefined;
      if (value !== undefined) names[side][name] = String(value);
    }
}

async function play(pair, { name, steps }, known, compare) {
  const namespace = `n${Math.floor(Math.random() * 1e9).toString(36)}${Date.now().toString(36)}`;
  const names = [{ ns: namespace }, { ns: namespace }];
  await send(pair, names, { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
  await send(pair, names, { method: 'POST', path: `/api/v1/namespaces/${namespace}/serviceaccounts`, body: { metadata: { name: 'default' } } });
  for (const step of steps) {
    if (step.method === undefined || /\$\{/.test(filled(step.path, names[0]))) continue;
    await Promise.all(neighbours(step, known).map(async (one) => compare(`${name} ${step.id}`, one, await send(pair, names, one))));
    const answers = await send(pair, names, step);
    capture(step, answers, names);
    compare(`recorded ${name} ${step.id}`, step, answers);
  }
  await send(pair, names, { method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
}

async function main() {
  const cases = readCases(options.cases);
  const known = valuesByField(cases);
  const chosen = cases.filter(({ name }) => !options.only || options.only.split(',').some((part) => name.includes(part)));
  const pair = await pairOf(options);
  const tally = new Tally();
  let [sent, differing] = [0, 0];
  const compare = (told, request, answers) => {
    const found = compareAnswers(...answers);
    sent += 1;
    if (found.length > 0) differing += 1;
    for (const { name, example } of found) tally.add(name, `${told}: ${example}\n          ${request.method} ${request.path} ${String(bodyOf(request) ?? '').slice(0, 600)}`);
  };
  try {
    for (const one of chosen) if (Date.now() < endsAt) await play(pair, one, known, compare);
    for (const line of tally.lines()) console.log(line);
    console.log(`${sent} requests, ${differing} differ`);
  } finally {
    await pair.close();
  }
}
await main();
