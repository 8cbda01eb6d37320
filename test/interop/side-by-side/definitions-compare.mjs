#!/usr/bin/env node
// Gives both servers the same CustomResourceDefinitions and compares what they answer, store and publish: warnings, conditions, discovery, OpenAPI v2 and v3 of
// the new group versions, and the columns of an empty list. Prints the classes of differences and ends with their number.
//
//   SAGONG_UPSTREAM_BIN=DIR node test/interop/side-by-side/definitions-compare.mjs [--upstream URL --sagong URL] FILE-OR-DIR...
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { compareAnswers } from './answers.mjs';
import { differences, Tally } from './differences.mjs';
import { pairOf } from './servers.mjs';

const establishedTimeoutMs = 60_000;
const publishedTimeoutMs = 60_000;
const text = { type: 'string' };
const { values: options, positionals } = parseArgs({ options: { upstream: text, sagong: text, examples: text }, allowPositionals: true });

const filesOf = (path) => (statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path]).filter((file) => /\.ya?ml$/.test(file));
const definitions = positionals
  .flatMap(filesOf)
  .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')))
  .map((document) => document.toJSON())
  .filter((object) => object?.kind === 'CustomResourceDefinition');
const pair = await pairOf(options);
const servers = [pair.upstream, pair.sagong];
const tally = new Tally();
const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const json = { 'content-type': 'application/json' };
const both = (method, path, more) => Promise.all(servers.map((server) => server.call(method, path, more)));

function note(name, about, [upstream, sagong]) {
  for (const found of compareAnswers(upstream, sagong)) tally.add(`${name}: ${found.name}`, `${about}: ${found.example}`);
}

/** Asks again until every server's answer satisfies. */
async function until(path, satisfies, timeoutMs) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answers = await both('GET', path);
    if (answers.every(satisfies) || Date.now() > deadline) return answers;
    await new Promise((resume) => setTimeout(resume, 200));
  }
}

const holds = (type) => (answer) =>
  JSON.parse(answer.text).status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** Without descriptions: those of metadata come from elsewhere. Conditions are told by type. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => ((key === 'description' && typeof item === 'string') || /DeleteOptions/.test(key) ? [] : [[key, plain(item)]])));
}

function compareDocuments(name, about, [upstream, sagong]) {
  for (const { path, ...values } of differences(plain(upstream), plain(sagong))) {
    const [first, second, ...rest] = path;
    const place = first === 'paths' ? `operation ${rest.join('.')}` : `${first} ${rest.map((key, at) => (rest[at - 1] === 'properties' ? '*' : key)).slice(-3).join('.')}`;
    tally.add(`${name}: ${place}`, `${about} ${second} ${path.slice(2).join('.')}: ${values.upstream} | ${values.sagong}`);
  }
}

try {
  for (const definition of definitions) {
    const { name } = definition.metadata;
    const made = await both('POST', collection, { headers: json, body: JSON.stringify(definition) });
    note('create', name, made);
    if (made.some(({ status }) => status >= 300)) continue;
    const path = `${collection}/${name}`;
    note('stored', name, await until(path, holds('Established'), establishedTimeoutMs));
    const { group, versions, names } = definition.spec;
    for (const { name: version, served } of versions) {
      if (!served) continue;
      const base = `/apis/${group}/${version}`;
      await until(`/openapi/v3${base}`, ({ status, text: body }) => status === 200 && body.includes(`"kind":"${names.kind}"`), publishedTimeoutMs);
      const documents = (await both('GET', `/openapi/v3${base}`)).map(({ text: body }) => JSON.parse(body));
      compareDocuments('v3', name, documents);
      note('table', name, await both('GET', `${base}/${names.plural}`, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } }));
      note('discovery', name, await both('GET', base));
    }
    note('update', name, await both('PUT', `${path}?dryRun=All`, { headers: json, body: JSON.stringify({ ...definition, spec: { ...definition.spec, scope: 'Cluster' } }) }));
    await both('DELETE', path);
  }
} finally {
  await pair.close();
}
for (const line of tally.lines(500, Number(options.examples ?? 1))) console.log(line);
console.log(`${definitions.length} definitions, ${tally.total} differences`);
process.exitCode = tally.total === 0 ? 0 : 1;
