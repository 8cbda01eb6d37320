#!/usr/bin/env node
// Writes dist/openapi-descriptions.json: what every type and field of the API is for, for OpenAPI and `kubectl explain`. The texts are those of the model
// documentation of the pinned package kubernetes-models, and of @kubernetes/client-node for types that it lacks and for parameters; the latter has none for
// fields whose type is a message. Nothing of it is kept in the repository.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const models = join(root, 'node_modules/@kubernetes/client-node/dist/gen/models');
if (!existsSync(models)) {
  console.warn('gen-descriptions: @kubernetes/client-node is not installed; OpenAPI will have no descriptions');
  process.exit(0);
}

const { types } = JSON.parse(readFileSync(join(root, 'src/api/schema.gen.json'), 'utf8'));
/** 'v1.Pod' -> full names of types with that version and kind. */
const byVersionAndKind = new Map();
for (const name of Object.keys(types)) {
  const [version, kind] = name.split('.').slice(-2);
  const key = `${version}.${kind}`;
  byVersionAndKind.set(key, [...(byVersionAndKind.get(key) ?? []), name]);
}

/** `V1Pod`, `CoreV1Event`: the generator puts the group in front where a kind's name is in several. */
function typeOf(className) {
  const parts = /^([A-Z][a-z0-9]*?)?V(\d+(?:alpha\d+|beta\d+)?)([A-Z].*)$/.exec(className);
  if (!parts) return undefined;
  const [, group, version, kind] = parts;
  const candidates = byVersionAndKind.get(`v${version}.${kind}`) ?? [];
  return group === undefined ? candidates[0] : candidates.find((name) => name.split('.').at(-3) === group.toLowerCase());
}

const comment = /\/\*\*\n((?:\s*\*[^\n]*\n)*?)\s*\*\/\s*\n\s*(?:export declare class (\w+)|'([^']+)'\??:)/g;
const text = (lines) =>
  lines
    .split('\n')
    .map((line) => line.replace(/^\s*\*\s?/, ''))
    .join('\n')
    .trim()
    .replaceAll("\\'", "'")
    .replaceAll('\\"', '"');

const descriptions = {};
for (const file of readdirSync(models)) {
  if (!file.endsWith('.d.ts')) continue;
  const type = typeOf(file.slice(0, -'.d.ts'.length));
  if (type === undefined) continue;
  const own = {};
  for (const [, lines, className, field] of readFileSync(join(models, file), 'utf8').matchAll(comment)) {
    own[className === undefined ? field : ''] = text(lines);
  }
  descriptions[type] = own;
}

/** 'iok8sapicorev1pod' -> 'io.k8s.api.core.v1.Pod': kubernetes-models names types without their dots. */
const byFlatName = new Map(Object.keys(types).map((name) => [name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase(), name]));
const exported = /export (?:type )?\{ \w+ as I?(IoK8s\w+)/;
const documented = /\/\*\*\n((?:\s*\*[^\n]*\n)*?)\s*\*\/\s*\n\s*(?:export interface (\w+)|"([^"]+)"\??:)/g;
for (const name of ['kubernetes-models', '@kubernetes-models/apimachinery']) {
  const folder = join(root, 'node_modules', name);
  if (!existsSync(folder)) continue;
  for (const file of readdirSync(folder, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const source = readFileSync(join(folder, file), 'utf8');
    const type = byFlatName.get(exported.exec(source)?.[1].toLowerCase());
    if (type === undefined) continue;
    const own = (descriptions[type] ??= {});
    for (const [, lines, interfaceName, field] of source.matchAll(documented))
      own[interfaceName === undefined ? field : ''] = text(lines).replaceAll(/\\([*/])/g, '$1');
  }
}

/** What parameters of requests are for: of connections by the type of their options, of all others by name. */
const connections = {
  Exec: 'PodExecOptions',
  Attach: 'PodAttachOptions',
  Portforward: 'PodPortForwardOptions',
  Log: 'PodLogOptions',
};
const request =
  /\/\*\*\n((?:\s*\*[^\n]*\n)*?)\s*\* Defaults to: [^\n]*\n\s*\* @type [^\n]*\n\s*\* @memberof (\w+)\n\s*\*\/\s*\n\s*(\w+)\??:/g;
const plain = (lines) =>
  text(lines)
    .replaceAll(/\\?&#39;/g, "'")
    .replaceAll(/\\?&quot;/g, '"')
    .replaceAll(/\\?&#x60;/g, '`')
    .replaceAll(/\\?&lt;/g, '<')
    .replaceAll(/\\?&gt;/g, '>')
    .replaceAll('&amp;', '&')
    .replaceAll('\\n', '\n');
const parameters = {};
const requests = readFileSync(join(models, '../types/ObjectParamAPI.d.ts'), 'utf8');
for (const [, lines, operation, name] of requests.matchAll(request)) {
  if (name === 'name' || name === 'namespace' || name === 'body') continue;
  const options = Object.entries(connections).find(([of]) => operation.endsWith(`NamespacedPod${of}`))?.[1];
  const proxied = /connect[A-Z][a-z]+?(?:Namespaced)?(Node|Pod|Service)Proxy$/.exec(operation)?.[1];
  const owner = options ?? (proxied && `${proxied}ProxyOptions`);
  if (owner) (descriptions[`io.k8s.api.core.v1.${owner}`] ??= {})[name] ??= plain(lines);
  else parameters[name.replace(/^_/, '')] ??= plain(lines);
}
descriptions.parameters = parameters;
mkdirSync(join(root, 'dist'), { recursive: true });
writeFileSync(join(root, 'dist/openapi-descriptions.json'), `${JSON.stringify(descriptions)}\n`);
const fields = Object.values(descriptions).reduce((sum, own) => sum + Object.keys(own).length, 0);
console.log(`gen-descriptions: ${Object.keys(descriptions).length} types, ${fields} descriptions`);
