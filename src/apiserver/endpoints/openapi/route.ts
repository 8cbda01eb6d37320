// One operation of the OpenAPI documents before it is written in version 2 or 3, and what both versions say alike.
import type { Steps } from '#utils';
import type { Schema } from './schemas.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  type: 'boolean' | 'integer' | 'string';
  required?: true;
  description?: string;
}

/** A type of the documents by its name, or a bare string. */
export type TypeName = string;
export const bareString: TypeName = 'string';

export interface Route {
  path: string;
  method: string;
  id: string;
  tag: string;
  description: string;
  /** What Kubernetes calls the operation, and the kind that it is about; absent for paths of no resource. */
  action?: string;
  kind?: { group: string; version: string; kind: string };
  parameters: readonly Parameter[];
  body?: { type: TypeName; required: boolean };
  consumes: readonly string[];
  produces: readonly string[];
  answers: readonly { status: number; description: string; type?: TypeName }[];
}

/** An identifier made of a text: what is no letter or digit goes, and what follows it is written large. */
export function identifier(text: string, large: boolean): string {
  const joined = text.replace(/[^\p{L}\d_]+(.)?/gu, (_, next: string = '') => next.toUpperCase());
  return large ? joined.charAt(0).toUpperCase() + joined.slice(1) : joined;
}

/** `connect` and `GetNamespacedPodExec` under /api/v1/ are `connectCoreV1GetNamespacedPodExec`, with the tag `core_v1`. */
export function nameOf(path: string, verb: string, rest: string): { id: string; tag: string } {
  const parts = path
    .replace(/^\/api\//, '/apis/core/')
    .replace(/^\/|\/$/g, '')
    .split('/');
  const named = parts[0] === 'apis' ? parts.slice(1, 3) : parts.slice(0, 1);
  const [group = '', version] = named.map((part) => part.replace(/\.k8s\.io$/, ''));
  const [large, small] = [identifier(group, true), identifier(group, false)];
  const isGroup = parts[0] === 'apis';
  const id = `${verb}${isGroup ? large + identifier(version ?? '', true) : ''}${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
  return { id, tag: version === undefined ? small : `${small}_${version}` };
}

const describes = (route: Route): Schema => ({
  tags: [route.tag],
  description: route.description,
  operationId: route.id,
});

const kindOf = ({ action, kind }: Route): Schema =>
  kind === undefined ? {} : { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind };

const key = (parameter: Parameter): string => `${parameter.in} ${parameter.name} ${parameter.description ?? ''}`;

/** Each path with its operations, and the parameters that all of them take. */
function byPath(routes: readonly Route[]): { path: string; routes: Route[]; common: Map<string, Parameter> }[] {
  const paths = new Map<string, Route[]>();
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  return [...paths].map(([path, all]) => {
    const everywhere = (all[0]?.parameters ?? []).filter((one) =>
      all.every(({ parameters }) => parameters.some((other) => key(other) === key(one))),
    );
    return { path, routes: all, common: new Map(everywhere.map((one) => [key(one), one])) };
  });
}

const sorted = (parameters: Iterable<Parameter>): Parameter[] =>
  [...parameters].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.in < b.in ? -1 : 1));

type Refer = (type: TypeName) => Schema;
const schemaOf = (type: TypeName, refer: Refer): Schema => (type === bareString ? { type: 'string' } : refer(type));

function* writePaths(
  routes: readonly Route[],
  parameter: (one: Parameter) => Schema,
  operation: (route: Route, own: readonly Parameter[]) => Schema,
): Steps<Record<string, Schema>> {
  const written: Record<string, Schema> = {};
  for (const { path, routes: all, common } of byPath(routes)) {
    const item: Schema = {};
    for (const route of all)
      item[route.method] = operation(route, sorted(route.parameters.filter((one) => !common.has(key(one)))));
    if (common.size > 0) item['parameters'] = sorted(common.values()).map(parameter);
    written[path] = item;
    yield;
  }
  return written;
}

const named = ({ name, in: place, description, required }: Parameter): Schema => ({
  name,
  in: place,
  ...(description && { description }),
  ...(required && { required }),
});

const parameterV3 = (parameter: Parameter): Schema => ({
  ...named(parameter),
  schema: { type: parameter.type, uniqueItems: true },
});

const contentOf = (types: readonly string[], schema: Schema): Schema => ({
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
});

export const pathsV3 = (routes: readonly Route[], refer: Refer): Steps<Record<string, Schema>> =>
  writePaths(routes, parameterV3, (route, own) => ({
    ...describes(route),
    ...(own.length > 0 && { parameters: own.map(parameterV3) }),
    ...(route.body && {
      requestBody: { ...contentOf(route.consumes, refer(route.body.type)), ...(route.body.required && { required: true }) },
    }),
    responses: Object.fromEntries(
      route.answers.map(({ status, description, type }) => [
        status,
        { description, ...(type !== undefined && contentOf(route.produces, schemaOf(type, refer))) },
      ]),
    ),
    ...kindOf(route),
  }));

/** The fields stand in the order in which upstream's encoder writes them: the names of shared parameters are made of the text. */
const parameterV2 = ({ type, description, name, in: place, required }: Parameter): Schema => ({
  uniqueItems: true,
  type,
  ...(description && { description }),
  name,
  in: place,
  ...(required && { required }),
});

/** Version 2, whose `parameters` are those that several operations share. */
export function* pathsV2(
  routes: readonly Route[],
  refer: Refer,
): Steps<{ paths: Record<string, Schema>; parameters: Record<string, Schema> }> {
  const shared = new SharedParameters();
  const paths = yield* writePaths(
    routes,
    (parameter) => shared.refer(parameterV2(parameter)),
    (route, own) => {
      const body = route.body && {
        name: 'body',
        in: 'body',
        ...(route.body.required && { required: true }),
        schema: refer(route.body.type),
      };
      const all = [...(body ? [body] : []), ...own.map(parameterV2)].map((one) => shared.refer(one));
      return {
        description: route.description,
        ...(route.consumes.length > 0 && { consumes: route.consumes }),
        produces: route.produces,
        schemes: ['https'],
        tags: [route.tag],
        operationId: route.id,
        ...(all.length > 0 && { parameters: all }),
        responses: Object.fromEntries(
          route.answers.map(({ status, description, type }) => [
            status,
            { description, ...(type !== undefined && { schema: schemaOf(type, refer) }) },
          ]),
        ),
        ...kindOf(route),
      };
    },
  );
  return { paths, parameters: shared.all() };
}

/** Parameters of many operations stand in the document once (k8s.io/kube-openapi/pkg/builder, deduplicateParameters). */
class SharedParameters {
  readonly #names = new Map<string, string>();
  readonly #parameters = new Map<string, Schema>();

  /** The parameter as an operation has it: a reference, or itself where old kubectls look for it there, or where it names a kind. */
  refer(parameter: Schema): Schema {
    const { name, in: place, schema } = parameter as { name: string; in: string; schema?: { $ref?: string } };
    const isOwn = place === 'body' ? !schema?.$ref?.startsWith(genericBody) : unshared.has(name);
    if (isOwn) return parameter;
    const text = JSON.stringify(parameter);
    let shared = this.#names.get(text);
    if (shared === undefined) {
      shared = `${name}-${hashOf(text)}`;
      this.#names.set(text, shared);
      this.#parameters.set(shared, parameter);
    }
    return { $ref: `#/parameters/${shared}` };
  }

  all(): Record<string, Schema> {
    return Object.fromEntries([...this.#parameters].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const genericBody = '#/definitions/io.k8s.apimachinery';
const unshared: ReadonlySet<string> = new Set(['name', 'fieldValidation', 'dryRun']);

const goEscapes = /[<>&\u2028\u2029]/g;
const mask64 = (1n << 64n) - 1n;

/** The first six bytes of FNV-1 of the text as Go's encoder writes it, in base64. */
function hashOf(text: string): string {
  const escaped = text.replace(goEscapes, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(escaped)) hash = ((hash * 0x100000001b3n) & mask64) ^ BigInt(byte);
  return Buffer.from(hash.toString(16).padStart(16, '0'), 'hex')
    .subarray(0, 6)
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}
