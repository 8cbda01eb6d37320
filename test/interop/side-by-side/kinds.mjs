// The built-in kinds as upstream's apiserver tells of them: a valid object of each (test/kinds/fixtures.yaml), its schema, resource and subresources.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

const fixtures = fileURLToPath(new URL('../../kinds/fixtures.yaml', import.meta.url));

/** Kinds whose objects the two servers cannot have alike. */
const leftOut = new Set(['APIService']);

/** All schemas that a server publishes, by name. */
async function schemasOf(server) {
  const schemas = {};
  const { body: index } = await server.json('GET', '/openapi/v3');
  for (const path of Object.keys(index.paths)) Object.assign(schemas, (await server.json('GET', `/openapi/v3/${path}`)).body.components?.schemas);
  return schemas;
}

function typeNamesOf(schemas) {
  const typeNames = {};
  for (const [name, schema] of Object.entries(schemas))
    for (const gvk of schema['x-kubernetes-group-version-kind'] ?? [])
      typeNames[`${gvk.group === '' ? '' : `${gvk.group}/`}${gvk.version} ${gvk.kind}`] ??= name;
  return typeNames;
}

/** The kind of a valid object as `server` serves it; undefined when it does not. */
async function kindOf(server, valid, namespace, typeNames) {
  const base = valid.apiVersion.includes('/') ? `/apis/${valid.apiVersion}` : `/api/${valid.apiVersion}`;
  const { body: list } = await server.json('GET', base);
  const resource = list.resources?.find(({ kind, name }) => kind === valid.kind && !name.includes('/'));
  if (!resource) return undefined;
  const subresources = list.resources.filter(({ name }) => name.startsWith(`${resource.name}/`)).map(({ name, verbs, kind }) => ({ name: name.split('/')[1], verbs, kind }));
  if (resource.namespaced) valid.metadata.namespace = namespace;
  const prefix = resource.namespaced ? `${base}/namespaces/${namespace}` : base;
  const typeName = typeNames[`${valid.apiVersion} ${valid.kind}`];
  return { kind: valid.kind, typeName, valid, resource, subresources, collection: `${prefix}/${resource.name}`, everywhere: `${base}/${resource.name}` };
}

/** A valid object of every built-in kind. */
export const validObjects = () => parseAllDocuments(readFileSync(fixtures, 'utf8')).map((document) => document.toJSON());

/** Each kind whose valid object is in `objects`, and all schemas. */
export async function kindsOf(server, namespace, objects = validObjects()) {
  const schemas = await schemasOf(server);
  const typeNames = typeNamesOf(schemas);
  const kinds = [];
  for (const valid of objects) {
    if (!valid?.kind || leftOut.has(valid.kind)) continue;
    const one = await kindOf(server, valid, namespace, typeNames);
    if (one) kinds.push(one);
  }
  return { kinds, schemas };
}
