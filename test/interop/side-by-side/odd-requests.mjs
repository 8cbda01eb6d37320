#!/usr/bin/env node
// Sends the same odd requests to upstream's apiserver and to ours, and counts how their answers differ. Requests are generated from upstream's own schemas for every
// built-in kind, from a seed: creates, updates and patches of all types with bad values in any field, subresources, tables, lists, deletes, strange headers and parameters.
// Prints the classes of differences, the most frequent first, with the request of an example; ends with "N requests, N differ".
//
//   SAGONG_UPSTREAM_BIN=DIR node test/interop/side-by-side/odd-requests.mjs [--seed N] [--count N] [--kind NAME] [--form NAME] [--examples N] [--upstream URL --sagong URL]
import { parseArgs } from 'node:util';
import { compareAnswers } from './answers.mjs';
import { Tally } from './differences.mjs';
import { requestForms } from './forms.mjs';
import { kindsOf } from './kinds.mjs';
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
