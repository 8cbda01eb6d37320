#!/usr/bin/env node
// Sends the same odd requests to upstream's apiserver and to ours, and counts how their answers differ. Requests are generated from upstream's own schemas for every
// built-in kind, from a seed: creates, updates and patches of all types with bad values in any field, subresources, tables, lists, deletes, strange headers and parameters.
// Prints the classes of differences, the most frequent first, with the request of an example; ends with "N requests, N differ".
//
//   SAGONG_UPSTREAM_BIN=DIR node test/interop/side-by-side/odd-requests.mjs [--seed N] [--count N] [--kind NAME] [--form NAME] [--examples N] [--upstream URL --sagong URL]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { compareAnswers } from './answers.mjs';
import { Tally } from './differences.mjs';
import { requestForms } from './forms.mjs';
import { oddObjects } from './odd-objects.mjs';
import { random } from './random.mjs';
import { pairOf } from './servers.mjs';

const text = { type: 'string' };
const { values: options } = parseArgs({
  options: { seed: text, count: text, kind: text, form: text, examples: text, upstream: text, sagong: text, classes: text, all: { type: 'boolean' } },
});
const seed = Number(options.seed ?? 1);
const count = Number(options.count ?? 2000);
const atOnce = 8;
const fixtures = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../kinds/fixtures.yaml');

/** Kinds whose objects the two servers cannot have alike. */
const leftOut = new Set(['APIService']);

/** Each kind: its valid object, schema and resource, from upstream's discovery and OpenAPI. */
async function kindsOf(server, namespace) {
  const schemas = {};
  const { body: index } = await server.json('GET', '/openapi/v3');
  for (const path of Object.keys(index.paths)) Object.assign(schemas, (await server.json('GET', `/openapi/v3/${path}`)).body.components?.schemas);
  const typeNames = {};
  for (const [name, schema] of Object.entries(schemas))
    for (const gvk of schema['x-kubernetes-group-version-kind'] ?? [])
      typeNames[`${gvk.group === '' ? '' : `${gvk.group}/`}${gvk.version} ${gvk.kind}`] ??= name;
  const kinds = [];
  for (const document of parseAllDocuments(readFileSync(fixtures, 'utf8'))) {
    const valid = document.toJSON();
    if (!valid?.kind || leftOut.has(valid.kind)) continue;
    const base = valid.apiVersion.includes('/') ? `/apis/${valid.apiVersion}` : `/api/${valid.apiVersion}`;
    const { body: list } = await server.json('GET', base);
    const resource = list.resources?.find(({ kind, name }) => kind === valid.kind && !name.includes('/'));
    if (!resource) continue;
    const subresources = list.resources.filter(({ name }) => name.startsWith(`${resource.name}/`)).map(({ name, verbs, kind }) => ({ name: name.split('/')[1], verbs, kind }));
    if (resource.namespaced) valid.metadata.namespace = namespace;
    const prefix = resource.namespaced ? `${base}/namespaces/${namespace}` : base;
    kinds.push({ kind: valid.kind, typeName: typeNames[`${valid.apiVersion} ${valid.kind}`], valid, resource, subresources, collection: `${prefix}/${resource.name}`, everywhere: `${base}/${resource.name}` });
  }
  return { kinds, schemas };
}

async function main() {
  const pair = await pairOf(options);
  const namespace = `odd-${seed}-${Date.now() % 100000}`;
  const none = (error) => ({ status: 0, headers: {}, text: error.message });
  const both = (...request) => Promise.all([pair.upstream, pair.sagong].map((server) => server.call(...request).catch(none)));
  const post = (path, body) => both('POST', path, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  try {
    await post('/api/v1/namespaces', { metadata: { name: namespace } });
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
    const { kinds, schemas } = await kindsOf(pair.upstream, namespace);
    const chance = random(seed);
    const tally = new Tally();
    const odd = oddObjects(schemas, chance);
    const chosen = kinds.filter(({ kind }) => !options.kind || options.kind.split(',').includes(kind));
    // What updates start from: the valid object of each kind under a name of this run.
    for (const one of kinds) {
      const [upstream, sagong] = await post(one.collection, one.valid);
      if (upstream.status >= 300 && upstream.status !== 409) one.absent = true;
      if (upstream.status === 409) continue;
      for (const { name, example } of compareAnswers(upstream, sagong)) tally.add(`valid: ${name}`, `${one.kind}: ${example}`);
    }
    const forms = requestForms({ chance, odd, kinds });
    const names = Object.keys(forms).filter((name) => !options.form || options.form.split(',').includes(name));
    let differing = 0;
    const one = async () => {
      const kind = chance.pick(chosen);
      const form = chance.pick(names);
      const request = forms[form](kind);
      if (!request) return;
      const [upstream, sagong] = await both(request.method, request.path, request);
      const found = compareAnswers(upstream, sagong);
      if (found.length > 0) differing += 1;
      const told = `${request.method} ${request.path} ${JSON.stringify(request.headers)} ${String(request.body ?? '').slice(0, options.all ? 5000 : 600)}`;
      for (const { name, example } of found) tally.add(`${form}: ${name}`, `${kind.kind}: ${example}\n          ${told}`);
    };
    // Nothing is kept, so the order in which requests arrive says nothing.
    for (let at = 0; at < count; at += atOnce) await Promise.all(Array.from({ length: Math.min(atOnce, count - at) }, one));
    for (const line of tally.lines(Number(options.classes ?? 200), Number(options.examples ?? 1))) console.log(line);
    console.log(`seed ${seed}: ${count} requests, ${differing} differ`);
    process.exitCode = differing === 0 ? 0 : 1;
    await both('DELETE', `/api/v1/namespaces/${namespace}`);
  } finally {
    await pair.close();
  }
}
await main();
