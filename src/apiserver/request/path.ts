// What a method and a path ask for (k8s.io/apiserver/pkg/endpoints/request, RequestInfoFactory).
import { parse as parseFieldSelector } from '#apimachinery/fields';
import { isPathSegmentName } from '#apimachinery/validation';
import type { RequestOptions } from './options.ts';
import type { Attributes, Target } from './request.ts';

export interface PathRead {
  verb: string;
  /** Undefined: the path names no resource. */
  target: Target | undefined;
  /** From the resource on. */
  segments: readonly string[];
  options: RequestOptions;
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

/** Upstream splits the decoded path: an escaped slash separates like any other. */
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const noSegments: readonly string[] = [];

export function readPath(method: string, path: string, options: RequestOptions): PathRead {
  const segments = decoded(path).split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  const isCore = segments[0] === 'api';
  const first = isCore ? 2 : 3;
  if ((!isCore && segments[0] !== 'apis') || segments.length <= first)
    return { verb: method.toLowerCase(), target: undefined, segments: noSegments, options };
  let rest = segments.slice(first);
  // The old form of a watch: /watch/ before the resource.
  const oldWatch = rest[0] === 'watch' && rest.length > 1 && (method === 'GET' || method === 'HEAD');
  if (oldWatch) rest = rest.slice(1);
  const group = isCore ? '' : (segments[1] ?? '');
  const { target, parts } = placesOf(group, segments[first - 1] ?? '', rest);
  if (oldWatch) return { verb: 'watch', target, segments: parts, options: { ...options, watch: true } };
  return { verb: verbOf(method, target.name, options), target, segments: parts, options };
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
  const verb = methodVerbs[method] ?? '';
  if (name !== '') return verb;
  if (verb === 'get') return watch ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
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
