// What a URL asks for (k8s.io/apiserver/pkg/endpoints/request, RequestInfoFactory).

export interface RequestInfo {
  isResource: boolean;
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the method in lower case. */
  verb: string;
  /** Without query. */
  path: string;
  group: string;
  version: string;
  namespace: string;
  resource: string;
  subresource: string;
  name: string;
  /** Segments from the resource on. */
  parts: readonly string[];
  /** The old /watch/ form of a list. */
  forceWatch: boolean;
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

const nonResource = (method: string, path: string): RequestInfo => ({
  isResource: false,
  verb: method.toLowerCase(),
  path,
  group: '',
  version: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
  forceWatch: false,
});

export function parseRequest(method: string, path: string, query: URLSearchParams): RequestInfo {
  const info = nonResource(method, path);
  const segments = decoded(path).split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  const isCore = segments[0] === 'api';
  const first = isCore ? 2 : 3;
  if ((!isCore && segments[0] !== 'apis') || segments.length <= first) return info;
  info.isResource = true;
  info.group = isCore ? '' : (segments[1] ?? '');
  info.version = segments[first - 1] ?? '';
  let rest = segments.slice(first);
  info.verb = methodVerbs[method] ?? '';
  if (rest[0] === 'watch' && rest.length > 1 && (method === 'GET' || method === 'HEAD')) {
    info.verb = 'watch';
    info.forceWatch = true;
    rest = rest.slice(1);
  }
  placeParts(info, rest);
  refineVerb(info, method, query);
  return info;
}

function placeParts(info: RequestInfo, rest: string[]): void {
  let parts = rest;
  if (parts[0] === 'namespaces' && parts.length > 1) {
    info.namespace = parts[1] ?? '';
    if (parts.length > 2 && !(parts.length === 3 && namespaceSubresources.has(parts[2] ?? ''))) parts = parts.slice(2);
  }
  info.parts = parts;
  info.resource = parts[0] ?? '';
  info.name = parts[1] ?? '';
  info.subresource = parts[2] ?? '';
}

function refineVerb(info: RequestInfo, method: string, query: URLSearchParams): void {
  if (info.name !== '' || info.forceWatch) {
    if (info.name === '' || info.verb !== 'get') return;
    return;
  }
  if (info.verb === 'get') {
    const watch = query.get('watch');
    info.verb = watch !== null && watch !== '0' && watch.toLowerCase() !== 'false' ? 'watch' : 'list';
    const name = /(?:^|,)metadata\.name=?=([^,=!]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '')?.[1];
    if (name !== undefined) info.name = '';
  }
  if (info.verb === 'delete' && method === 'DELETE') info.verb = 'deletecollection';
}
