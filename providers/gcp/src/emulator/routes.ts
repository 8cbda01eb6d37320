// Paths and methods of the Compute Engine API v1, and what answers them.
import { pageByToken, Refusal, type Routes, type VendorAnswer, type VendorRequest } from 'sagong/cloud-provider/test-server';
import { filterOf } from './filter.ts';
import { type Body, kinds } from './kinds.ts';
import { shownOperation } from './operations.ts';
import type { Projects } from './project.ts';
import { alreadyExists, inUse, invalid, notFound, notReady } from './refusals.ts';
import { linkOf, pathIn, type Resource } from './resource.ts';

const waitMaxMs = 120_000;
const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export interface RouteDeps {
  projects: Projects;
  sleep(ms: number): Promise<void>;
}

/** A resource as it is answered: what is only the server's own is left out, what only others know is added. */
function shown(projects: Projects, resource: Resource): Resource {
  const { members: _members, ...more } = resource;
  if (resource.kind === 'compute#route' && !projects.get(pathIn(resource['nextHopInstance'], '')))
    return { ...(more as Resource), warnings: [{ code: 'NEXT_HOP_INSTANCE_NOT_FOUND', message: 'Next hop instance not found' }] };
  return more as Resource;
}

/** The last part of the path is a name, or the name of a collection. */
const isCollection = (path: string): boolean =>
  /\/(global|zones\/[^/]+|regions\/[^/]+)\/[^/]+$|^projects\/[^/]+\/(zones|regions)$/.test(path);

function kindAt(collection: string) {
  const kind = Object.hasOwn(kinds, lastPart(collection)) ? kinds[lastPart(collection)] : undefined;
  if (!kind) throw new Refusal(404, 'notFound', `there is no ${collection} here`);
  return kind;
}

function bodyOf(request: VendorRequest): Body {
  if (typeof request.body !== 'object' || request.body === null) throw new Refusal(400, 'parseError', 'Parse Error');
  return request.body as Body;
}

function page(items: unknown[], query: URLSearchParams, kind: string): VendorAnswer {
  const size = Number(query.get('maxResults') ?? 500);
  if (!(size >= 0 && size <= 500)) throw invalid('maxResults', size, 'must be between 0 and 500');
  try {
    const { items: some, next } = pageByToken(items, query.get('pageToken'), size || 500);
    return { body: { kind: `compute#${kind}List`, id: kind, items: some, ...(next && { nextPageToken: next }) } };
  } catch {
    throw invalid('pageToken', query.get('pageToken'));
  }
}

/** What is looked at before an operation begins. */
const checksOf = (projects: Projects): Readonly<Record<'insert' | 'delete' | 'change', (path: string) => void>> => ({
  insert(path) {
    if (projects.get(path) || projects.operations.busyWith(path)) throw alreadyExists(path);
  },
  delete(path) {
    if (!projects.get(path)) throw notFound(path);
    const user = projects.userOf(path);
    if (user) throw inUse(path, pathIn(user.selfLink, ''));
    if (projects.operations.busyWith(path)) throw notReady(path);
  },
  change(path) {
    if (!projects.get(path)) throw notFound(path);
    if (projects.operations.busyWith(path)) throw notReady(path);
  },
});

/** Reads of the API. */
class Reads {
  readonly #projects: Projects;
  constructor(projects: Projects) {
    this.#projects = projects;
  }
  get(path: string): VendorAnswer {
    const resource = this.#projects.get(path);
    if (!resource) throw notFound(path);
    return { body: shown(this.#projects, resource) };
  }
  list(collection: string, query: URLSearchParams): VendorAnswer {
    const matches = filterOf(query.get('filter'));
    const base = `${linkOf(collection)}/`;
    const all = [...this.#projects.resources.seenValues()]
      .filter(({ selfLink }) => selfLink.startsWith(base) && !selfLink.slice(base.length).includes('/'))
      .map((resource) => shown(this.#projects, resource))
      .filter(matches)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return page(all, query, lastPart(collection));
  }
  members({ params: { path = '' }, url }: VendorRequest): VendorAnswer {
    const group = this.#projects.get(path.replace(/\/listInstances$/, ''));
    if (!group) throw notFound(path);
    const items = (group['members'] as string[]).map((instance) => ({ instance, status: 'RUNNING' }));
    return page(items, url.searchParams, 'instanceGroupsListInstances');
  }
}

/** Writes of the API, each of which is an operation. */
class Writes {
  readonly #projects: Projects;
  constructor(projects: Projects) {
    this.#projects = projects;
  }
  insert(request: VendorRequest, collection: string): VendorAnswer {
    const projects = this.#projects;
    const { insert: made, kind } = kindAt(collection);
    const body = bodyOf(request);
    const name = String(body['name'] ?? '');
    if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) throw invalid('resource.name', name, 'must match the pattern of names');
    const path = `${collection}/${name}`;
    const target = { projects, path, body };
    // Said at once where it can be; what comes to light at the end ends the operation with an error.
    if (!projects.get(path) && !projects.operations.busyWith(path)) made(target);
    return this.#begin(request, 'insert', path, () => {
      if (projects.get(path)) throw alreadyExists(path);
      projects.put(path, kind, made(target));
    });
  }
  change(request: VendorRequest, path: string, what: string): VendorAnswer {
    const projects = this.#projects;
    const kind = kindAt(path.slice(0, path.lastIndexOf('/')));
    const patch = what === 'patch' || what === 'update' ? kind.patch : kind.actions?.[what];
    if (!patch) throw new Refusal(404, 'notFound', `there is no method ${what}`);
    const body = bodyOf(request);
    const changed = (): Body => {
      const there = projects.get(path);
      if (!there) throw notFound(path);
      return { ...there, ...patch({ projects, path, body, there }) };
    };
    if (projects.get(path) && !projects.operations.busyWith(path)) changed();
    return this.#begin(request, 'change', path, () => {
      const { kind: name, ...fields } = changed();
      projects.put(path, String(name).replace('compute#', ''), fields);
    });
  }
  remove(request: VendorRequest, path: string): VendorAnswer {
    const projects = this.#projects;
    if (path.includes('/instances/')) return this.#begin(request, 'delete', path, () => projects.removeInstance(lastPart(path)));
    kindAt(path.slice(0, path.lastIndexOf('/')));
    return this.#begin(request, 'delete', path, () => {
      const user = projects.userOf(path);
      if (user) throw inUse(path, pathIn(user.selfLink, ''));
      projects.resources.delete(path);
    });
  }
  /** Begins the work, or gives the operation that the same request has begun before. */
  #begin(request: VendorRequest, kind: 'insert' | 'delete' | 'change', path: string, work: () => void): VendorAnswer {
    const { operations, byRequest } = this.#projects;
    const requestId = request.url.searchParams.get('requestId');
    const known = requestId ? operations.get(byRequest.get(requestId) ?? '') : undefined;
    if (known) return { body: shownOperation(known) };
    checksOf(this.#projects)[kind](path);
    const operation = operations.begin({ kind, target: path, work });
    if (requestId) byRequest.set(requestId, operation.id);
    return { body: shownOperation(operation) };
  }
}

export function computeRoutes({ projects, sleep }: RouteDeps): Routes {
  const reads = new Reads(projects);
  const writes = new Writes(projects);
  const operation = async (id: string, waitMs: number): Promise<VendorAnswer> => {
    const found = projects.operations.get(id);
    if (!found) throw notFound(`operations/${id}`);
    const leftMs = found.endsMs - projects.now();
    if (waitMs > 0 && leftMs > 0) await sleep(Math.min(leftMs, waitMs));
    return { body: shownOperation(projects.operations.get(id) ?? found) };
  };
  return {
    'GET /compute/v1/{path...}': ({ params: { path = '' }, url }) => {
      const [, id] = /\/operations\/([^/]+)$/.exec(path) ?? [];
      if (id !== undefined) return operation(id, 0);
      return isCollection(path) ? reads.list(path, url.searchParams) : reads.get(path);
    },
    'POST /compute/v1/{path...}': (request) => {
      const { path = '' } = request.params;
      const [, id] = /\/operations\/([^/]+)\/wait$/.exec(path) ?? [];
      if (id !== undefined) return operation(id, waitMaxMs);
      if (path.endsWith('/listInstances')) return reads.members(request);
      if (isCollection(path)) return writes.insert(request, path);
      return writes.change(request, path.slice(0, path.lastIndexOf('/')), lastPart(path));
    },
    'PATCH /compute/v1/{path...}': (request) => writes.change(request, request.params['path'] ?? '', 'patch'),
    'PUT /compute/v1/{path...}': (request) => writes.change(request, request.params['path'] ?? '', 'update'),
    'DELETE /compute/v1/{path...}': (request) => writes.remove(request, request.params['path'] ?? ''),
  };
}
