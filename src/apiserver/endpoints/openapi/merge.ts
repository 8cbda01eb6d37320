// Specifications of several API servers as one (k8s.io/kube-openapi/pkg/aggregator; openapiconv for servers that only know v2).
import { setOwn, type Steps } from '#utils';

export type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
const definitionPrefix = '#/definitions/';

/** Objects, lists and maps that are looked at between two pauses. */
const walkedAtOnce = 2_000;

/** A copy of the value with every `$ref` changed. */
function* withRefs(value: unknown, change: (ref: string) => string): Steps<unknown> {
  const root: Json = {};
  const open: [from: object, to: Json | unknown[]][] = [[{ value }, root]];
  for (let seen = 1, next = open.pop(); next; seen++, next = open.pop()) {
    if (seen % walkedAtOnce === 0) yield;
    const [from, to] = next;
    const copied = (key: string, item: unknown): unknown => {
      if (typeof item !== 'object' || item === null) return key === '$ref' && typeof item === 'string' ? change(item) : item;
      const copy = Array.isArray(item) ? [] : {};
      open.push([item, copy]);
      return copy;
    };
    if (Array.isArray(to)) for (const item of from as unknown[]) to.push(copied('', item));
    else for (const [key, item] of Object.entries(from)) setOwn(to, key, copied(key, item));
  }
  return root['value'];
}

/** Names of the definitions that the values need, with those that they need. */
function* usedDefinitions(values: Iterable<unknown>, definitions: Json): Steps<Set<string>> {
  const used = new Set<string>();
  const open = [...values];
  const take = (ref: string): void => {
    const name = ref.startsWith(definitionPrefix) ? ref.slice(definitionPrefix.length) : undefined;
    if (name === undefined || used.has(name)) return;
    used.add(name);
    if (Object.hasOwn(definitions, name)) open.push(definitions[name]);
  };
  for (let seen = 1; open.length > 0; seen++) {
    if (seen % walkedAtOnce === 0) yield;
    const one = open.pop();
    if (Array.isArray(one)) for (const item of one) open.push(item);
    else if (isObject(one)) {
      for (const [key, item] of Object.entries(one)) {
        if (key === '$ref' && typeof item === 'string') take(item);
        else if (typeof item === 'object' && item !== null) open.push(item);
      }
    }
  }
  return used;
}

/** Only the paths below `prefix`, and the definitions that they need. */
export function* filterV2(spec: unknown, prefix: string): Steps<Json> {
  const whole = objectOf(spec);
  const paths = Object.fromEntries(Object.entries(objectOf(whole['paths'])).filter(([path]) => path.startsWith(prefix)));
  yield;
  const definitions = objectOf(whole['definitions']);
  const used = yield* usedDefinitions(Object.values(paths), definitions);
  yield;
  const kept = Object.fromEntries(Object.entries(definitions).filter(([name]) => used.has(name)));
  return { ...whole, paths, definitions: kept };
}

const gvkKey = 'x-kubernetes-group-version-kind';
/** What a definition is called by and described as may differ between servers of other releases. */
const saysNothing = (key: string, value: unknown): boolean => key === 'description' && typeof value === 'string';

/** Whether two definitions have the same shape. */
function* haveSameShape(mine: unknown, theirs: unknown): Steps<boolean> {
  const { [gvkKey]: _, ...one } = objectOf(mine);
  const { [gvkKey]: __, ...other } = objectOf(theirs);
  const open: [unknown, unknown][] = [[one, other]];
  for (let seen = 1, next = open.pop(); next; seen++, next = open.pop()) {
    if (seen % walkedAtOnce === 0) yield;
    const [a, b] = next;
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) return false;
      for (const [at, item] of a.entries()) open.push([item, b[at]]);
    } else if (isObject(a) && isObject(b)) {
      const keysOf = (of: Json): string[] => Object.keys(of).filter((key) => !saysNothing(key, of[key]));
      const keys = keysOf(a);
      if (keys.length !== keysOf(b).length) return false;
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false;
        open.push([a[key], b[key]]);
      }
    } else if (a !== b) return false;
  }
  return true;
}

function withGvks(definition: unknown, other: unknown): Json {
  const mine = objectOf(definition);
  const [all, more] = [mine[gvkKey], objectOf(other)[gvkKey]];
  if (!Array.isArray(more)) return mine;
  const known = new Set((Array.isArray(all) ? all : []).map((one) => JSON.stringify(one)));
  const added = more.filter((one) => !known.has(JSON.stringify(one)));
  return added.length === 0 ? mine : { ...mine, [gvkKey]: [...(Array.isArray(all) ? all : []), ...added] };
}

type Members = Map<string, unknown>;

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  for (let at = 2; ; at++) if (!taken.has(`${name}_v${at}`)) return `${name}_v${at}`;
}

/** Definitions and paths between two pauses. */
const mergedAtOnce = 200;

/** What their definitions are called among ours: one of the same name and another shape gets another name. */
function* renamedAmong(definitions: Members, theirs: readonly [string, unknown][]): Steps<Map<string, string>> {
  const renamed = new Map<string, string>();
  for (const [at, [name, definition]] of theirs.entries()) {
    if (at % mergedAtOnce === 0) yield;
    const mine = definitions.get(name);
    if (mine !== undefined && !(yield* haveSameShape(mine, definition))) renamed.set(name, freeName(name, definitions));
  }
  return renamed;
}

/** The document `base` with the paths and definitions of others. Both are maps then: the runtime is slow with objects of very many keys. */
export function* mergeV2(base: Json, others: readonly Json[]): Steps<Json> {
  if (others.length === 0) return base;
  const paths: Members = new Map(Object.entries(objectOf(base['paths'])));
  const definitions: Members = new Map(Object.entries(objectOf(base['definitions'])));
  for (const other of others) {
    yield;
    yield* addTo(paths, definitions, other);
  }
  return { ...base, paths, definitions };
}

function* addTo(paths: Members, definitions: Members, other: Json): Steps<void> {
  const theirs = Object.entries(objectOf(other['definitions']));
  const renamed = yield* renamedAmong(definitions, theirs);
  const change = (ref: string): string => {
    const name = renamed.get(ref.slice(definitionPrefix.length));
    return name === undefined ? ref : definitionPrefix + name;
  };
  const changed = function* (value: unknown): Steps<unknown> {
    return renamed.size === 0 ? value : yield* withRefs(value, change);
  };
  for (const [at, [name, definition]] of theirs.entries()) {
    if (at % mergedAtOnce === 0) yield;
    const to = renamed.get(name) ?? name;
    definitions.set(to, definitions.has(to) ? withGvks(definitions.get(to), definition) : yield* changed(definition));
  }
  for (const [at, [path, item]] of Object.entries(objectOf(other['paths'])).entries()) {
    if (at % mergedAtOnce === 0) yield;
    if (!paths.has(path)) paths.set(path, yield* changed(item));
  }
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
export function* v3FromV2(spec: Json): Steps<Json> {
  const { info, paths, definitions, securityDefinitions } = spec;
  const items: Json = {};
  for (const [at, [path, item]] of Object.entries(objectOf(paths)).entries()) {
    if (at % mergedAtOnce === 0) yield;
    setOwn(items, path, pathV3(objectOf(item), spec));
  }
  const components = {
    schemas: objectOf(definitions),
    ...(isObject(securityDefinitions) && { securitySchemes: securityDefinitions }),
  };
  const document = { openapi: '3.0.0', info, paths: items, components };
  return (yield* withRefs(document, (ref) => ref.replace(definitionPrefix, '#/components/schemas/'))) as Json;
}

function pathV3(item: Json, spec: Json): Json {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => {
      if (methods.has(key)) return [key, operationV3(objectOf(value), spec)];
      return [key, key === 'parameters' && Array.isArray(value) ? value.map(parameterV3) : value];
    }),
  );
}
