#!/usr/bin/env node
// Sends odd definitions and odd custom resources to upstream's apiserver and to ours, and counts how their answers differ: what a schema says of a value, rules in CEL,
// defaults, pruning, printer columns of any JSONPath, selectable fields, and bodies that are no proper JSON or YAML.
// Prints the classes of differences with the request of an example; ends with "N requests, N differ".
//
//   SAGONG_UPSTREAM_BIN=DIR node test/interop/side-by-side/odd-custom.mjs [--only TEXT] [--upstream URL --sagong URL]
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { compareAnswers } from './answers.mjs';
import { bodies, columnPaths, definitions, parameters, patches, schema, values } from './custom-cases.mjs';
import { Tally } from './differences.mjs';
import { pairOf } from './servers.mjs';

const text = { type: 'string' };
const { values: options } = parseArgs({ options: { only: text, upstream: text, sagong: text } });
const json = { 'content-type': 'application/json' };
const settleMs = 200;
const settleTries = 50;

/** Right and wrong values of each field, in every way that writes. */
async function tryValues(compare, collection, thing) {
  for (const [key, list] of Object.entries(values))
    for (const value of list)
      for (const validation of ['Strict', 'Warn']) {
        const spec = { color: 'red', count: 1, [key]: value };
        await compare('value', 'POST', `${collection}?dryRun=All&fieldValidation=${validation}`, { headers: json, body: JSON.stringify(thing(spec)) });
        await compare('update', 'PUT', `${collection}/kept?dryRun=All&fieldValidation=${validation}`, { headers: json, body: JSON.stringify(thing(spec, 'kept')) });
        await compare('merge', 'PATCH', `${collection}/kept?dryRun=All`, { headers: { 'content-type': 'application/merge-patch+json' }, body: JSON.stringify({ spec: { [key]: value } }) });
        const apply = { headers: { 'content-type': 'application/apply-patch+yaml' }, body: JSON.stringify(thing(spec, 'kept')) };
        await compare('apply', 'PATCH', `${collection}/kept?dryRun=All&force=true&fieldManager=me&fieldValidation=${validation}`, apply);
      }
}

/** Bodies and patches that are odd before any schema looks at them, for a custom and a built-in kind. */
async function tryBodies(compare, collection, stated) {
  for (const { type, body } of bodies)
    for (const [path, own] of [[collection, stated], ['/api/v1/namespaces/default/configmaps', { apiVersion: 'v1', kind: 'ConfigMap' }]])
      for (const validation of ['Strict', 'Warn', 'Ignore']) {
        const filled = Buffer.isBuffer(body) ? body : body.replace(/<own>/g, JSON.stringify(own).slice(1, -1)).replace(/<version>/g, own.apiVersion).replace(/<kind>/g, own.kind);
        await compare('body', 'POST', `${path}?dryRun=All&fieldValidation=${validation}`, { headers: { 'content-type': type }, body: filled });
      }
  for (const { type, body } of patches) {
    await compare('patch', 'PATCH', `${collection}/kept?dryRun=All&fieldManager=me`, { headers: { 'content-type': type }, body: body.replace(/<own>/g, JSON.stringify(stated).slice(1, -1)) });
    await compare('patch', 'PATCH', `/api/v1/namespaces/default?dryRun=All&fieldManager=me`, { headers: { 'content-type': type }, body: body.replace(/<own>/g, '"apiVersion":"v1","kind":"Namespace"') });
  }
}

async function main() {
  const pair = await pairOf(options);
  const mark = `x${Date.now() % 1_000_000}`;
  const tally = new Tally();
  let [sent, differing] = [0, 0];
  const both = (...request) => Promise.all([pair.upstream, pair.sagong].map((server) => server.call(...request).catch((error) => ({ status: 0, headers: {}, text: error.message }))));
  const compare = async (form, method, path, request = {}) => {
    if (options.only && !`${form} ${path} ${request.body}`.includes(options.only)) return;
    const answers = await both(method, path, request);
    const found = compareAnswers(...answers);
    sent += 1;
    if (found.length > 0) differing += 1;
    for (const { name, example } of found) tally.add(`${form}: ${name}`, `${example}\n          ${method} ${path} ${String(request.body ?? '').slice(0, 600)}`);
  };
  const definitionOf = (plural, change = {}, version = {}) => {
    const kind = plural[0].toUpperCase() + plural.slice(1, -1);
    const group = `${mark}.example.com`;
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} }, ...version }];
    return {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.${group}` } },
      spec: { group, scope: 'Namespaced', names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` }, versions, ...change },
    };
  };
  const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const made = [];
  const establish = async (definition) => {
    made.push(definition.metadata.name);
    const answers = await both('POST', definitionsPath, { headers: json, body: JSON.stringify(definition) });
    if (answers.some(({ status }) => status !== 201)) throw new Error(answers.map((answer) => answer.text).join('\n'));
    for (let tries = 0; tries < settleTries; tries += 1) {
      const lists = await both('GET', `/apis/${mark}.example.com/v1/${definition.spec.names.plural}`);
      if (lists.every(({ status }) => status === 200)) return;
      await pause(settleMs);
    }
    throw new Error(`${definition.metadata.name} is not served`);
  };
  try {
    for (const [at, { change, version }] of definitions.entries())
      await compare('definition', 'POST', `${definitionsPath}?dryRun=All`, { headers: json, body: JSON.stringify(definitionOf(`odd${at}s`, change, version)) });
    const columns = columnPaths.map((jsonPath, at) => ({ name: `c${at}`, type: 'string', jsonPath }));
    for (const column of columns)
      await compare('column', 'POST', `${definitionsPath}?dryRun=All`, { headers: json, body: JSON.stringify(definitionOf('columns', {}, { additionalPrinterColumns: [column] })) });
    await establish(definitionOf('things', {}, { selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.count' }] }));
    const collection = `/apis/${mark}.example.com/v1/namespaces/default/things`;
    const stated = { apiVersion: `${mark}.example.com/v1`, kind: 'Thing' };
    const thing = (spec, name = 'fresh') => ({ ...stated, metadata: { name }, spec });
    await both('POST', collection, { headers: json, body: JSON.stringify(thing({ color: 'red', count: 1 }, 'kept')) });
    await tryValues(compare, collection, thing);
    await tryBodies(compare, collection, stated);
    for (const query of parameters)
      for (const path of [collection, `${collection}/kept`, '/api/v1/namespaces/default/configmaps', '/api/v1/pods', '/api/v1/namespaces/default']) await compare('query', 'GET', `${path}?${query}${query.includes('watch=') ? '&timeoutSeconds=1' : ''}`);
    for (const column of columns) {
      const body = JSON.stringify({ spec: { versions: [{ ...definitionOf('things').spec.versions[0], additionalPrinterColumns: [column] }] } });
      const patched = await both('PATCH', `${definitionsPath}/things.${mark}.example.com`, { headers: { 'content-type': 'application/merge-patch+json' }, body });
      if (patched.some(({ status }) => status >= 300)) continue;
      await pause(settleMs);
      await compare('shown', 'GET', collection, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } });
    }
    for (const line of tally.lines()) console.log(line);
    console.log(`${sent} requests, ${differing} differ`);
    process.exitCode = differing === 0 ? 0 : 1;
  } finally {
    for (const name of made) await both('DELETE', `${definitionsPath}/${name}`);
    await pair.close();
  }
}
await main();
