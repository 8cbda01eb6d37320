#!/usr/bin/env node
// Compares what two apiservers say of themselves: discovery of all forms, OpenAPI v2 and v3 of every group version, health checks by name, /version. Prints each
// class of differences with an example, and ends with the number of differences. Run it while neither has custom resources.
//
//   SAGONG_UPSTREAM_BIN=DIR node test/interop/side-by-side/openapi-compare.mjs [--upstream URL --sagong URL] [--descriptions] [--examples N]
import { parseArgs } from 'node:util';
import { differences, Tally } from './differences.mjs';
import { pairOf } from './servers.mjs';

const { values: options } = parseArgs({
  options: { upstream: { type: 'string' }, sagong: { type: 'string' }, descriptions: { type: 'boolean' }, examples: { type: 'string' }, only: { type: 'string' } },
});
const pair = await pairOf(options);
const tally = new Tally();

const json = async (server, path, accept = 'application/json') => {
  const answer = await server.call('GET', path, { headers: { accept } });
  try {
    return JSON.parse(answer.text);
  } catch {
    return { status: answer.status, text: answer.text };
  }
};
const both = (path, accept) => Promise.all([json(pair.upstream, path, accept), json(pair.sagong, path, accept)]);

/** A path of a document as its class: which path, schema or field it is matters for the example only. */
function classOf(path) {
  const [first, second, ...rest] = path;
  if (first === 'paths') {
    const [method, ...inner] = rest;
    return method === undefined ? 'a path' : `operation ${/^(get|put|post|patch|delete|options|head)$/.test(method) ? '' : method}${inner.join('.')}`;
  }
  if (first === 'definitions') return `schema ${schemaClass(rest)}`;
  if (first === 'components' && second === 'schemas') return `schema ${schemaClass(rest.slice(1))}`;
  return path.join('.');
}
const schemaClass = (path) => {
  const at = path.map((key, index) => (path[index - 1] === 'properties' ? '*' : key)).map((key) => (/^\d+$/.test(key) ? 'N' : key));
  return at.join('.') || '(whole)';
};
const wordless = (path, key) => key === 'description' && !options.descriptions && path.at(-1) !== 'properties';

/** Parameters are told by name: their order says nothing. */
function named(value) {
  if (Array.isArray(value)) {
    const items = value.map(named);
    if (items.length > 0 && items.every((item) => item && typeof item === 'object' && 'name' in item && 'in' in item))
      return Object.fromEntries(items.map((item) => [`${item.in}:${item.name}`, item]));
    if (items.every((item) => item && typeof item === 'object' && typeof item.$ref === 'string' && Object.keys(item).length === 1)) return items.map(({ $ref }) => $ref).sort();
    return items;
  }
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value);
  // A reference that only a description stands beside: the same without it.
  if (!options.descriptions && value.allOf?.length === 1 && entries.every(([key]) => key === 'allOf' || key === 'description'))
    return named(value.allOf[0]);
  return Object.fromEntries(entries.map(([key, item]) => [key, named(item)]));
}

/** A document of version 2 with its shared parameters where they are referred to: their names are made of their descriptions. */
function withParameters(document) {
  const place = (item) => (item?.$ref?.startsWith('#/parameters/') ? document.parameters?.[item.$ref.slice('#/parameters/'.length)] : item);
  for (const path of Object.values(document.paths ?? {}))
    for (const holder of [path, ...Object.values(path)]) if (Array.isArray(holder?.parameters)) holder.parameters = holder.parameters.map(place);
  return options.descriptions ? document : { ...document, parameters: undefined };
}

async function compare(name, path, accept, prepare = (value) => value, classed = (at) => at.join('.')) {
  if (options.only && !name.includes(options.only)) return;
  const [upstream, sagong] = (await both(path, accept)).map(prepare);
  for (const { path: at, ...values } of differences(upstream, sagong, { skip: wordless }))
    tally.add(`${name}: ${classed(at)}`, `${at.join(' . ')}: upstream ${values.upstream}, sagong ${values.sagong}`);
}

try {
  const resourcesByName = (list) => ({ ...list, ...(list.resources && { resources: Object.fromEntries(list.resources.map((one) => [one.name, one])) }) });
  const addressless = (root) => ({ ...root, serverAddressByClientCIDRs: undefined });
  const buildless = ({ buildDate, goVersion, gitCommit, gitTreeState, compiler, platform, ...rest }) => ({ ...rest, keys: [buildDate, goVersion, gitCommit, gitTreeState, compiler, platform].map((one) => typeof one) });
  await compare('/version', '/version', undefined, buildless);
  await compare('/api', '/api', undefined, addressless);
  await compare('/apis', '/apis');
  for (const probe of ['healthz', 'livez', 'readyz'])
    await compare(probe, `/${probe}?verbose`, 'text/plain', ({ text = '' }) => Object.fromEntries(text.split('\n').map((line) => [line, true])));
  await compare('/', '/', undefined, (root) => Object.fromEntries((root.paths ?? []).map((path) => [path, true])));
  for (const version of ['v2', 'v2beta1']) {
    const aggregated = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
    for (const root of ['/api', '/apis']) await compare(`aggregated ${root}`, root, aggregated);
  }
  const groups = await json(pair.upstream, '/apis');
  for (const group of groups.groups) {
    await compare('a group', `/apis/${group.name}`);
    for (const { groupVersion } of group.versions) await compare('resources', `/apis/${groupVersion}`, undefined, resourcesByName, ([first, ...at]) => `${first} ${at.slice(1).join('.')}`);
  }
  await compare('resources', '/api/v1', undefined, resourcesByName, ([first, ...at]) => `${first} ${at.slice(1).join('.')}`);
  await compare('v2', '/openapi/v2', undefined, (document) => named(withParameters(document)), classOf);
  const hashless = ({ paths }) => ({ paths: Object.fromEntries(Object.keys(paths ?? {}).map((path) => [path, true])) });
  await compare('v3 index', '/openapi/v3', undefined, hashless);
  const index = await json(pair.upstream, '/openapi/v3');
  for (const path of Object.keys(index.paths)) await compare('v3', `/openapi/v3/${path}`, undefined, named, classOf);
} finally {
  await pair.close();
}
for (const line of tally.lines(1000, Number(options.examples ?? 1))) console.log(line);
console.log(`${tally.total} differences`);
process.exitCode = tally.total === 0 ? 0 : 1;
