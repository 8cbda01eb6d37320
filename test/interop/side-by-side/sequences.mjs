#!/usr/bin/env node
// Plays sequences of requests on upstream's apiserver and on ours, and tells where answers, stored objects, owners of fields, versions, warnings or events of watches differ: creates, updates, the
// patches, applies, statuses, scales, deletes with options and lists, valid and not, over the built-in kinds and a custom one. A sequence is drawn from its seed. Differences that are
// known (known-differences.mjs) are counted by themselves, and each of them has to show itself. Ends with "N sequences, N requests, N differ".
//
//   SAGONG_UPSTREAM_BIN=DIR node test/interop/side-by-side/sequences.mjs [--seed N] [--sequences N] [--steps N] [--kind Pod,Job] [--trace] [--examples N] [--upstream URL --sagong URL]
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { schema } from './custom-cases.mjs';
import { Tally } from './differences.mjs';
import { kindsOf, validObjects } from './kinds.mjs';
import { knownDifferences } from './known-differences.mjs';
import { oddObjects } from './odd-objects.mjs';
import { Player } from './player.mjs';
import { random } from './random.mjs';
import { pairOf } from './servers.mjs';
import { stepForms } from './steps.mjs';

const text = { type: 'string' };
const flag = { type: 'boolean' };
const { values: options } = parseArgs({ options: { seed: text, sequences: text, steps: text, kind: text, trace: flag, examples: text, upstream: text, sagong: text } });
const firstSeed = Number(options.seed ?? 1);
const sequences = Number(options.sequences ?? 20);
const steps = Number(options.steps ?? 40);
/** The share of drawn values that are not plausible. */
const oddness = 0.25;

/** Kinds of which a loop inside the apiserver writes the status, or that would change what other requests meet. */
const leftOut = new Set([
  ...['CustomResourceDefinition', 'FlowSchema', 'PriorityLevelConfiguration', 'ServiceCIDR', 'Namespace'],
  ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'MutatingAdmissionPolicyBinding', 'ValidatingAdmissionPolicyBinding'],
  ...['ResourceQuota', 'LimitRange', 'IPAddress'],
]);
const meaningful = new Set(['ResourceSlice', 'CSINode']);
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const servedTimeoutMs = 30_000;
const pollMs = 200;
/** Stands in a kind's paths until a sequence has its own namespace. */
const anyNamespace = 'any-namespace';
const shapes = ['plain', 'label', 'field', 'Table', 'PartialObjectMetadata'];

/** A custom kind with status and scale, beside the built-in ones. */
async function customKind(player, mark) {
  const group = `sequences-${mark}.example.com`;
  const definition = {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `things.${group}` } },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' } },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {}, scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' } } }],
    },
  };
  await player.post(definitions, definition);
  const deadline = Date.now() + servedTimeoutMs;
  while ((await player.both({ method: 'GET', path: `/apis/${group}/v1/things` })).some(({ status }) => status !== 200)) {
    if (Date.now() > deadline) throw new Error(`${definition.metadata.name} is not served`);
    await pause(pollMs);
  }
  const valid = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'thing' }, spec: { color: 'red', count: 1 } };
  return { name: definition.metadata.name, valid };
}

/** What a server is asked of a kind in this namespace. */
const within = (kind, namespace) => JSON.parse(JSON.stringify(kind).replaceAll(anyNamespace, namespace));

class Report {
  tally = new Tally();
  known = new Map();

  add(seed, form, { name, example }, told) {
    const difference = { name: `${form}: ${name}`, example, told };
    const known = knownDifferences.find((one) => one.is(difference));
    if (known) this.known.set(known, (this.known.get(known) ?? 0) + 1);
    else this.tally.add(difference.name, `seed ${seed}: ${example}\n          ${told}`);
  }
}

function playerFor(pair, seed, report) {
  const trace = options.trace ? (told, answers) => console.log(`${told}\n   ${answers.map(({ status, text: body }) => `${status} ${body.slice(0, 1200)}`).join('\n   ')}`) : undefined;
  return new Player(pair, (...difference) => report.add(seed, ...difference), trace);
}

async function makeNamespace(player, namespace) {
  await player.post('/api/v1/namespaces', { metadata: { name: namespace } });
  await player.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
}

async function play(player, seed, namespace, { kinds, schemas }) {
  const chance = random(seed);
  await makeNamespace(player, namespace);
  const chosen = kinds.filter(({ kind }) => (options.kind ? options.kind.split(',').includes(kind) : !leftOut.has(kind)));
  const draw = stepForms({ chance, odd: oddObjects(schemas, chance, oddness) });
  const played = [...new Set([chance.pick(chosen), chance.pick(chosen)])].map((kind) => within(kind, namespace));
  const things = played.flatMap((kind) => (meaningful.has(kind.kind) ? [kind.valid.metadata.name] : ['first', 'second']).map((name) => ({ kind, name, last: [], older: [] })));
  try {
    for (const kind of played) await player.watch(kind, [...new Set([chance.pick(shapes), chance.pick(shapes)])], 'second');
    let alike = true;
    for (let at = 0; at < steps && alike; at += 1) {
      const thing = chance.pick(things);
      const request = draw(thing);
      if (!request) continue;
      alike = await player.step(thing, request);
      if (request.form === 'removeAll') for (const other of things) alike = (await player.refresh(other, 'removeAll, then stored', '')) && alike;
    }
    if (alike) await player.endWatches();
  } finally {
    await player.end(things);
  }
}

/** Sends what shows each known difference. */
async function showKnown(player, namespace, group) {
  await makeNamespace(player, namespace);
  for (const { shown = () => [] } of knownDifferences) for (const one of shown(namespace)) await player.compare('known', one);
  for (const { steps: told } of knownDifferences) {
    if (told === undefined) continue;
    const kind = { kind: told.kind, collection: told.collection(namespace, group) };
    const thing = { kind, name: 'known', last: [], older: [] };
    for (const { method, body, query = '', type = 'application/json' } of told.list) {
      const path = method === 'POST' ? kind.collection : `${kind.collection}/${thing.name}${query}`;
      const sent = typeof body === 'function' ? body(group) : body;
      const bodies = (sent === 'own' ? thing.last : [sent, sent]).map((one) => JSON.stringify(one));
      await player.step(thing, { form: 'known', method, path, headers: { 'content-type': type }, bodies });
    }
  }
}

async function main() {
  const pair = await pairOf(options);
  const mark = Date.now() % 100000;
  const report = new Report();
  const first = playerFor(pair, 'none', report);
  let requests = 0;
  try {
    const custom = await customKind(first, mark);
    const known = await kindsOf(pair.upstream, anyNamespace, [...validObjects(), custom.valid]);
    for (const { kind, valid } of known.kinds) {
      if (kind === 'Service') for (const field of ['clusterIP', 'clusterIPs']) delete valid.spec[field];
      // The volume of a token has a name that each server draws.
      if (kind === 'Pod') valid.spec.automountServiceAccountToken = false;
    }
    for (let seed = firstSeed; seed < firstSeed + sequences; seed += 1) {
      const player = playerFor(pair, seed, report);
      await play(player, seed, `sequence-${seed}-${mark}`, known);
      requests += player.requests;
    }
    await showKnown(playerFor(pair, 'none', report), `sequence-known-${mark}`, custom.valid.apiVersion.split('/')[0]);
    await first.both({ method: 'DELETE', path: `${definitions}/${custom.name}` });
    tell(report, requests);
  } finally {
    await pair.close();
  }
}

function tell({ tally, known }, requests) {
  for (const line of tally.lines(1000, Number(options.examples ?? 1))) console.log(line);
  for (const [{ why }, count] of known) console.log(`known, ${count} times: ${why}`);
  const unseen = knownDifferences.filter((one) => !known.has(one));
  for (const { why } of unseen) console.log(`known, but no longer seen: ${why}`);
  console.log(`seeds ${firstSeed} to ${firstSeed + sequences - 1}: ${sequences} sequences, ${requests} requests, ${tally.total} differ, ${unseen.length} known ones are not seen`);
  process.exitCode = tally.total + unseen.length === 0 ? 0 : 1;
}
await main();
