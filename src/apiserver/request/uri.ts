// What a method and a URI ask for (k8s.io/apiserver/pkg/endpoints/request, RequestInfoFactory): the path names the target, the query has the options.
import { parse as parseFieldSelector } from '#apimachinery/fields';
import { isPathSegmentName } from '#apimachinery/validation';
import { parseGoInt, own } from '#utils';
import { type Attributes, noOptions, type RequestOptions, type Target } from './request.ts';

export interface UriRead {
  /** Without the query. */
  path: string;
  query: string;
  verb: string;
  /** Undefined: the path names no resource. */
  target: Target | undefined;
  /** From the resource on. */
  segments: readonly string[];
  options: RequestOptions;
}

/** A value that its parameter cannot have is kept as a problem: operations that have the parameter refuse it, others ignore it, as upstream's do. */
export function readUri(method: string, uri: string): UriRead {
  const at = uri.indexOf('?');
  const path = at < 0 ? uri : uri.slice(0, at);
  const query = at < 0 ? '' : uri.slice(at + 1);
  const options = readOptions(query);
  const segments = decoded(path).split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  const isCore = segments[0] === 'api';
  const first = isCore ? 2 : 3;
  if ((!isCore && segments[0] !== 'apis') || segments.length <= first)
    return { path, query, verb: method.toLowerCase(), target: undefined, segments: noSegments, options };
  let rest = segments.slice(first);
  // The old form of a watch: /watch/ before the resource.
  const oldWatch = rest[0] === 'watch' && rest.length > 1 && (method === 'GET' || method === 'HEAD');
  if (oldWatch) rest = rest.slice(1);
  const group = isCore ? '' : (segments[1] ?? '');
  const { target, parts } = placesOf(group, segments[first - 1] ?? '', rest);
  if (oldWatch) return { path, query, verb: 'watch', target, segments: parts, options: { ...options, watch: true } };
  return { path, query, verb: verbOf(method, target.name, options), target, segments: parts, options };
}

const methodVerbs: Record<string, string> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const namespaceSubresources = new Set(['status', 'finalize']);

const noSegments: readonly string[] = [];

/** Upstream splits the decoded path: an escaped slash separates like any other. */
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function placesOf(group: string, version: string, rest: string[]): { target: Target; parts: string[] } {
  let parts = rest;
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1] ?? '';
    if (parts.length > 2 && !(parts.length === 3 && namespaceSubresources.has(parts[2] ?? ''))) parts = parts.slice(2);
  }
  const [resource = '', name = '', subresource = ''] = parts;
  return { target: { group, version, resource, subresource, namespace, name }, parts };
}

function verbOf(method: string, name: string, { watch }: RequestOptions): string {
  const verb = own(methodVerbs, method) ?? '';
  if (name !== '') return verb;
  if (verb === 'get') return watch ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

type Name = Exclude<keyof RequestOptions, 'problems'>;

const kinds: Readonly<Record<Name, 'text' | 'number' | 'bool' | 'texts'>> = {
  labelSelector: 'text',
  fieldSelector: 'text',
  resourceVersion: 'text',
  resourceVersionMatch: 'text',
  limit: 'number',
  continue: 'text',
  watch: 'bool',
  allowWatchBookmarks: 'bool',
  sendInitialEvents: 'bool',
  timeoutSeconds: 'number',
  dryRun: 'texts',
  fieldManager: 'text',
  fieldValidation: 'text',
  force: 'bool',
  gracePeriodSeconds: 'number',
  orphanDependents: 'bool',
  propagationPolicy: 'text',
  uid: 'text',
  timeout: 'text',
  export: 'text',
};

/** Go's conversion of a query parameter to bool: everything but "false" and "0" is true. */
export const boolOf = (text: string): boolean => text !== '0' && text.toLowerCase() !== 'false';

function numberProblem(text: string): string | undefined {
  if (!/^[+-]?\d+$/.test(text)) return `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`;
  if (parseGoInt(text, 64) !== undefined) return undefined;
  return `strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`;
}

/** The query without what Go leaves out: parameters with a semicolon, and those with invalid escapes. */
function readable(query: string): string {
  if (!query.includes(';') && !/%(?![0-9a-f]{2})/i.test(query)) return query;
  const kept = query.split('&').filter((pair) => !pair.includes(';') && !/%(?![0-9a-f]{2})/i.test(pair));
  return kept.join('&');
}

/**
 * Reads the query of a request. When a parameter is given twice, its first value counts. Unknown parameters are left to the endpoints that know them.
 */
function readOptions(query: string): RequestOptions {
  if (query === '') return noOptions;
  const options: Record<string, unknown> = {};
  let problems: Record<string, string> | undefined;
  for (const [name, text] of new URLSearchParams(readable(query))) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as Name] : undefined;
    if (kind === undefined) continue;
    if (kind === 'texts') ((options[name] ??= []) as string[]).push(text);
    else if (name in options || (problems && name in problems)) continue;
    else if (kind === 'text') options[name] = text;
    else if (kind === 'bool') options[name] = boolOf(text);
    else {
      const problem = numberProblem(text);
      if (problem === undefined) options[name] = Number(text);
      else problems = { ...problems, [name]: problem };
    }
  }
  return problems ? { ...options, problems } : options;
}

/** A list or watch of one object, selected by its name, asks about that object: so authorizers and the audit log see it. */
export function aboutOneObject(request: Attributes): Attributes {
  const { user, target, verb, options } = request;
  if (!target || target.name !== '' || !options?.fieldSelector || (verb !== 'list' && verb !== 'watch')) return request;
  const name = selectedName(options.fieldSelector);
  return name === '' ? request : { user, verb, options, target: { ...target, name } };
}

function selectedName(fieldSelector: string): string {
  try {
    const name = parseFieldSelector(fieldSelector).exactMatch('metadata.name') ?? '';
    return isPathSegmentName(name).length === 0 ? name : '';
  } catch {
    return '';
  }
}
