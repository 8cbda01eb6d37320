// Specifications of several API servers as one (k8s.io/kube-openapi/pkg/aggregator; openapiconv for servers that only know v2).
import type { Steps } from '#utils';

export type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
const definitionPrefix = '#/definitions/';

/** The value with every `$ref` changed. */
function withRefs(value: unknown, change: (ref: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withRefs(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === '$ref' && typeof item === 'string' ? change(item) : withRefs(item, change),
    ]),
  );
}

/** Calls back for every `$ref` within the value. */
function eachRef(value: unknown, found: (ref: string) => void): void {
  if (Array.isArray(value)) for (const item of value) eachRef(item, found);
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (key === '$ref' && typeof item === 'string') found(item);
      else eachRef(item, found);
    }
  }
}

/** Names of the definitions that the value needs, with those that they need. A set grows while it is walked: chains may be long. */
function usedDefinitions(value: unknown, definitions: Json): Set<string> {
  const used = new Set<string>();
  const take = (ref: string): void => {
    if (ref.startsWith(definitionPrefix)) used.add(ref.slice(definitionPrefix.length));
  };
  eachRef(value, take);
  for (const name of used) if (Object.hasOwn(definitions, name)) eachRef(definitions[name], take);
  return used;
}

/** Only the paths below `prefix`, and the definitions that they need. */
export function filterV2(spec: unknown, prefix: string): Json {
  const whole = objectOf(spec);
  const paths = Object.fromEntries(Object.entries(objectOf(whole['paths'])).filter(([path]) => path.startsWith(prefix)));
  const definitions = objectOf(whole['definitions']);
  const used = usedDefinitions(paths, definitions);
  const kept = Object.fromEntries(Object.entries(definitions).filter(([name]) => used.has(name)));
  return { ...whole, paths, definitions: kept };
}

const gvkKey = 'x-kubernetes-group-version-kind';
/** The shape of a definition: what it is called by and described as may differ between servers of other releases. */
const shapeOf = (definition: unknown): string => {
  const { [gvkKey]: _, ...rest } = objectOf(definition);
  return JSON.stringify(withoutTexts(rest));
};

function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key, item]) => !(key === 'description' && typeof item === 'string'));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, withoutTexts(item)]));
}

function withGvks(definition: unknown, other: unknown): Json {
  const mine = objectOf(definition);
  const [all, more] = [mine[gvkKey], objectOf(other)[gvkKey]];
  if (!Array.isArray(more)) return mine;
  const known = new Set((Array.isArray(all) ? all : []).map((one) => JSON.stringify(one)));
  const added = more.filter((one) => !known.has(JSON.stringify(one)));
  return added.length === 0 ? mine : { ...mine, [gvkKey]: [...(Array.isArray(all) ? all : []), ...added] };
}

function freeName(name: string, taken: Json): string {
  for (let at = 2; ; at++) if (!(`${name}_v${at}` in taken)) return `${name}_v${at}`;
}

/** Definitions and paths between two pauses. */
const mergedAtOnce = 200;

/** What their definitions are called among ours: one of the same name and another shape gets another name. */
function* renamedAmong(definitions: Json, theirs: readonly [string, unknown][]): Steps<Map<string, string>> {
  const renamed = new Map<string, string>();
  for (const [at, [name, definition]] of theirs.entries()) {
    if (at % mergedAtOnce === 0) yield;
    const mine = definitions[name];
    if (mine !== undefined && shapeOf(mine) !== shapeOf(definition)) renamed.set(name, freeName(name, definitions));
  }
  return renamed;
}

/** `base` with the paths and definitions of another. */
export function* mergeV2(base: Json, other: Json): Steps<Json> {
  const paths = { ...objectOf(base['paths']) };
  const definitions = { ...objectOf(base['definitions']) };
  const theirs = Object.entries(objectOf(other['definitions']));
  const renamed = yield* renamedAmong(definitions, theirs);
  const change = (ref: string): string => {
    const name = renamed.get(ref.slice(definitionPrefix.length));
    return name === undefined ? ref : definitionPrefix + name;
  };
  for (const [at, [name, definition]] of theirs.entries()) {
    if (at % mergedAtOnce === 0) yield;
    const to = renamed.get(name) ?? name;
    definitions[to] = to in definitions ? withGvks(definitions[to], definition) : withRefs(definition, change);
  }
  for (const [at, [path, item]] of Object.entries(objectOf(other['paths'])).entries()) {
    if (at % mergedAtOnce === 0) yield;
    paths[path] ??= withRefs(item, change);
  }
  return { ...base, paths, definitions };
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);
const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch']);
const plainKeys = ['name', 'in', 'description', 'required', 'schema'];

function parameterV3(parameter: unknown): unknown {
  const whole = objectOf(parameter);
  const kept = Object.fromEntries(Object.entries(whole).filter(([key]) => plainKeys.includes(key)));
  const schema = Object.fromEntries(Object.entries(whole).filter(([key]) => !plainKeys.includes(key)));
  return { ...kept, schema };
}

const contentOf = (types: readonly string[], schema: unknown): Json => ({
  content: Object.fromEntries((types.length > 0 ? types : ['*/*']).map((type) => [type, { schema }])),
});

function operationV3(operation: Json, shared: Json): Json {
  const { consumes, produces, parameters, responses, schemes: _, ...rest } = operation;
  const all = Array.isArray(parameters) ? parameters.map(objectOf) : [];
  const body = all.find((one) => one['in'] === 'body');
  const takes = textsOf(consumes ?? shared['consumes']);
  const gives = textsOf(produces ?? shared['produces']);
  const answers = Object.entries(objectOf(responses)).map(([code, response]) => {
    const { schema, ...more } = objectOf(response);
    return [code, { ...more, ...(schema !== undefined && contentOf(gives, schema)) }];
  });
  return {
    ...rest,
    parameters: all.filter((one) => one !== body).map(parameterV3),
    ...(body && { requestBody: { ...contentOf(takes, body['schema']), ...(body['required'] === true && { required: true }) } }),
    responses: Object.fromEntries(answers),
  };
}

/** Makes a v3 document of a v2 specification, for servers that serve only v2. It has less detail than a document of their own would have. */
export function v3FromV2(spec: Json): Json {
  const { info, paths, definitions, securityDefinitions } = spec;
  const items = Object.entries(objectOf(paths)).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(objectOf(item)).map(([key, value]) => {
        if (methods.has(key)) return [key, operationV3(objectOf(value), spec)];
        return [key, key === 'parameters' && Array.isArray(value) ? value.map(parameterV3) : value];
      }),
    ),
  ]);
  const components = {
    schemas: objectOf(definitions),
    ...(isObject(securityDefinitions) && { securitySchemes: securityDefinitions }),
  };
  return withRefs({ openapi: '3.0.0', info, paths: Object.fromEntries(items) as Json, components }, (ref) =>
    ref.replace(definitionPrefix, '#/components/schemas/'),
  ) as Json;
}
