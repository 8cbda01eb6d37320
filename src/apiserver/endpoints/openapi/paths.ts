// The operations of a group version as OpenAPI paths: enough for clients that look up kinds by path, query parameters by operation and
// schemas by reference.
import { apiVersionOf } from '#apimachinery/meta';
import type { DiscoveredResource } from '../../registry/resource-table.ts';
import type { Schema, SchemaCollector } from './schemas.ts';

export interface PathsInput {
  group: string;
  version: string;
  resources: readonly DiscoveredResource[];
  /** Full type name of a kind, or undefined. */
  typeName(kind: { group: string; version: string; kind: string }): string | undefined;
  schemas: SchemaCollector;
  openApiVersion: 2 | 3;
}

const query = (name: string, type: 'string' | 'boolean' | 'integer', version: 2 | 3): Schema =>
  version === 3 ? { name, in: 'query', schema: { type, uniqueItems: true } } : { name, in: 'query', type, uniqueItems: true };

const pathParameter = (name: string, version: 2 | 3): Schema =>
  version === 3
    ? { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } }
    : { name, in: 'path', required: true, type: 'string', uniqueItems: true };

const listNames = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
] as const;
const kinds: Record<string, 'boolean' | 'integer'> = {
  allowWatchBookmarks: 'boolean',
  limit: 'integer',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
  force: 'boolean',
  gracePeriodSeconds: 'integer',
  orphanDependents: 'boolean',
};

const parameters: Record<string, readonly string[]> = {
  list: listNames,
  create: ['dryRun', 'fieldManager', 'fieldValidation'],
  update: ['dryRun', 'fieldManager', 'fieldValidation'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  delete: [
    'dryRun',
    'gracePeriodSeconds',
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'orphanDependents',
    'propagationPolicy',
  ],
  deletecollection: [...listNames, 'dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'],
  get: [],
};

const actions: Record<string, string> = {
  get: 'get',
  list: 'list',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'deletecollection',
};
const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

const verbName: Record<string, string> = {
  get: 'read',
  list: 'list',
  create: 'create',
  update: 'replace',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'deleteCollection',
};
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function pathsOf(input: PathsInput): Record<string, Schema> {
  const { group, version, resources } = input;
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const paths: Record<string, Schema> = {};
  for (const resource of resources) {
    const [name = '', subresource] = resource.name.split('/');
    const scope = resource.namespaced ? `${base}/namespaces/{namespace}` : base;
    const shared = [...(resource.namespaced ? [pathParameter('namespace', input.openApiVersion)] : [])];
    const item = {
      path: `${scope}/${name}/{name}${subresource ? `/${subresource}` : ''}`,
      parameters: [pathParameter('name', input.openApiVersion), ...shared],
    };
    const collection = { path: `${scope}/${name}`, parameters: shared };
    const on = (verbs: readonly string[], at: { path: string; parameters: Schema[] }): void => {
      const operations = Object.fromEntries(
        verbs.filter((verb) => resource.verbs.includes(verb)).map((verb) => [methodOf(verb), operation(input, resource, verb)]),
      );
      if (Object.keys(operations).length > 0)
        paths[at.path] = { ...operations, ...(at.parameters.length > 0 && { parameters: at.parameters }) };
    };
    if (subresource) on(['get', 'create', 'update', 'patch', 'delete'], item);
    else {
      on(['list', 'create', 'deletecollection'], collection);
      on(['get', 'update', 'patch', 'delete'], item);
      if (resource.namespaced && resource.verbs.includes('list')) on(['list'], { path: `${base}/${name}`, parameters: [] });
    }
  }
  return paths;
}

const methods: Record<string, string> = {
  get: 'get',
  list: 'get',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
};
const methodOf = (verb: string): string => methods[verb] ?? verb;

function operation(input: PathsInput, resource: DiscoveredResource, verb: string): Schema {
  const { group, version, openApiVersion } = input;
  const { kind } = resource;
  const typeName = input.typeName(kind);
  const answerType = verb === 'list' ? input.typeName({ ...kind, kind: `${kind.kind}List` }) : typeName;
  const statusType = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';
  const answer = verb.startsWith('delete') ? statusType : answerType;
  const groupName = group === '' ? 'core' : (group.split('.')[0] ?? '');
  const common: Schema = {
    tags: [`${groupName}_${version}`],
    operationId: `${verbName[verb]}${capital(groupName)}${capital(version)}${resource.namespaced ? 'Namespaced' : ''}${kind.kind}${capital(resource.name.split('/')[1] ?? '')}`,
    description: `${verbName[verb]} ${kind.kind} of ${apiVersionOf(group, version)}`,
    'x-kubernetes-action': actions[verb],
    'x-kubernetes-group-version-kind': kind,
  };
  const queries = ['pretty', ...(parameters[verb] ?? [])].map((name) => query(name, kinds[name] ?? 'string', openApiVersion));
  const ref = answer ? input.schemas.reference(answer) : undefined;
  const takesBody = verb === 'create' || verb === 'update' || verb === 'patch';
  const bodyRef = !takesBody
    ? undefined
    : verb === 'patch'
      ? input.schemas.reference('io.k8s.apimachinery.pkg.apis.meta.v1.Patch')
      : typeName && input.schemas.reference(typeName);
  const ok = verb === 'create' ? '201' : '200';
  if (openApiVersion === 2) {
    return {
      ...common,
      consumes: verb === 'patch' ? patchTypes : ['*/*'],
      produces: mediaTypes,
      schemes: ['https'],
      parameters: [...(bodyRef ? [{ name: 'body', in: 'body', required: true, schema: bodyRef }] : []), ...queries],
      responses: { [ok]: { description: 'OK', ...(ref && { schema: ref }) }, 401: { description: 'Unauthorized' } },
    };
  }
  const content = (types: readonly string[], schema: Schema): Schema =>
    Object.fromEntries(types.map((type) => [type, { schema }]));
  return {
    ...common,
    parameters: queries,
    ...(bodyRef && { requestBody: { content: content(verb === 'patch' ? patchTypes : ['*/*'], bodyRef), required: true } }),
    responses: {
      [ok]: { description: 'OK', ...(ref && { content: content(mediaTypes, ref) }) },
      401: { description: 'Unauthorized' },
    },
  };
}
