// Finds what serves a path: discovery, health, metrics and OpenAPI by name, resources by the table, the rest is not found.
import { own } from '#utils';
import { routeHealth, routeZpage, sliMetrics, type Zpages } from '#component-base';
import { badRequest, methodNotSupported, notAcceptable, notFound } from '#apimachinery/errors';
import type { Clock } from '#utils';
import type { Next } from '../chain/link.ts';
import type { Incoming } from '../chain/incoming.ts';
import type { DocumentOutcome, Outcome } from '../chain/outcome.ts';
import type { PublishedDocument } from './published-document.ts';
import { deprecationWarning } from '../registry/deprecations.ts';
import { apiVersionText, type ServedResource } from '../registry/generic/types.ts';
import type { Target, UserInfo } from '../request/request.ts';
import type { ServerContext } from './context.ts';
import {
  aggregatedDiscovery,
  type DiscoveryAnswer,
  legacyGroup,
  legacyGroups,
  legacyResources,
  legacyVersions,
  wantsAggregated,
} from './discovery.ts';
import { execute } from './execute.ts';
import type { HealthChecks } from './health.ts';
import { acceptOf, mediaTypes, routerRefusal } from './negotiation.ts';
import type { OpenApi } from './openapi/serve.ts';
import { encodeValue, plainJson } from './respond.ts';
import { methodNotAllowed, pathNotFound } from './route-errors.ts';
import { performSpecial } from './special.ts';

const methodVerbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

export interface NamedPaths {
  health: HealthChecks;
  openApi: OpenApi;
  /** Documents at paths of their own. */
  documents?: ReadonlyMap<string, () => PublishedDocument>;
  /** What /flagz shows; undefined: there is no /flagz. */
  flags?: Zpages['flags'];
  clock: Clock;
  /** The text of a debug endpoint that `/` does not list; undefined where no endpoint has that path. */
  debug?(path: string, query: string): string | undefined;
  /** Answers `/debug/decisions`. Absent: there is no such path. */
  decisions?(query: string, user: UserInfo, signal: AbortSignal): Promise<object>;
}

/** Makes the end of the chain, which finds what serves a request. */
export function createRoute(context: ServerContext, named: NamedPaths): Next {
  const slis = sliMetrics(() => named.health.lists());
  const other = async (request: Incoming): Promise<Outcome> => {
    const { path = '' } = request;
    if (path === '/api' || path.startsWith('/api/') || path === '/apis' || path.startsWith('/apis/'))
      return discover(context, request, path);
    if (path === '/metrics/slis') return { is: 'bytes', status: 200, type: slis.contentType, body: await slis.expose() };
    return serveNamed(context, named, request, path);
  };
  return (request) => (request.target ? routeResource(context, request, request.target) : other(request));
}

async function routeResource(context: ServerContext, request: Incoming, target: Target): Promise<Outcome> {
  const { group, version, resource: name, subresource } = target;
  const resource = context.table.find(group, version, name);
  // The handler of custom resources does not look at what follows a subresource.
  if (request.segments.length > 3 && subresource !== 'proxy' && !resource?.custom) throw pathNotFound();
  const special = context.special(group, version, name, subresource);
  if (special) return performSpecial(context, request, special);
  if (!resource && group !== '' && (!knownGroup(context, group) || isCustomGroup(context, group))) return pageNotFound;
  if (!resource || request.segments.some((part, at) => part === '' || (at !== 1 && (part === '.' || part === '..'))))
    throw pathNotFound();
  if (isOutOfPlace(request, target, resource)) return pageNotFound;
  if (resource.deprecation !== undefined) request.notes.warn(resource.deprecation);
  (resource.custom ? checkCustomVerb : checkVerb)(request, target, resource);
  if (request.verb === 'patch' && !resource.custom) request.body.patchType(false);
  const deprecation = deprecationWarning(apiVersionText(resource), resource.kind);
  if (deprecation !== undefined) {
    request.notes.warn(deprecation);
    request.notes.audit?.annotate('k8s.io/deprecated', 'true');
  }
  const collection = target.name === '' && (request.verb === 'list' || request.verb === 'watch');
  request.reply.agree({ resource, collection, tables: resource.doors.get(subresource)?.strategy.tables !== false });
  return execute({ request, resource, settings: { ...context.settings, rest: context.restOf(request) } });
}

/** Whether a custom resource has no such path. Throws 404 or 405 where a built-in resource does not have it. */
function isOutOfPlace(
  { method, verb }: Incoming,
  { resource, name, namespace }: Target,
  { namespaced, custom }: ServedResource,
): boolean {
  if (custom) return namespaced ? namespace === '' && verb !== 'list' && verb !== 'watch' : namespace !== '';
  if (namespaced && namespace === '') {
    // Cluster-wide views of namespaced resources are for reading only.
    if (name !== '') throw pathNotFound();
    if (method !== 'GET') throw methodNotAllowed();
  }
  // A namespace is in itself, but holds no others.
  const isOwnNamespace = resource === 'namespaces' && name === namespace;
  if (namespaced || namespace === '' || isOwnNamespace) return false;
  throw pathNotFound();
}

const verbsOf = ({ subresource }: Target, { verbs, subresources }: ServedResource): ReadonlySet<string> | undefined =>
  subresource === '' ? verbs : subresources.get(subresource)?.verbs;

/** Custom resources have one handler for all their methods, which names the verb. A change of a collection misses the name. */
function checkCustomVerb({ verb, body }: Incoming, target: Target, resource: ServedResource): void {
  const verbs = verbsOf(target, resource);
  if (!verbs) throw notFound(target, target.name);
  if (!verbs.has(verb)) throw methodNotSupported(target, verb);
  if (target.name !== '' || (verb !== 'update' && verb !== 'patch')) return;
  if (verb === 'patch') body.patchType(true);
  throw badRequest('name must be provided');
}

function checkVerb(request: Incoming, target: Target, resource: ServedResource): void {
  const isCollection = target.name === '';
  const verbs = verbsOf(target, resource);
  if (!verbs) throw pathNotFound();
  const verb = own(methodVerbs, request.method) ?? request.verb;
  const allowed = verb === 'watch' && !isCollection ? verbs.has('get') : verbs.has(verb);
  const misplaced = (verb === 'create' && !isCollection) || ((verb === 'update' || verb === 'patch') && isCollection);
  if (!allowed || misplaced || verb === '' || request.method === 'HEAD') throw methodNotAllowed();
}

function discover(context: ServerContext, request: Incoming, path: string): Outcome {
  const answer = discoveryOf(context, request, path);
  const [, root, group = '', version = ''] = path.split('/');
  if (!answer) {
    const isRoute = knownGroup(context, group) && !isCustomGroup(context, group);
    if (path.startsWith('/apis/') && !isRoute) return pageNotFound;
    throw pathNotFound();
  }
  // Groups and what is custom answer every method; the others only GET, as upstream's routes are laid.
  const answersAll = root === 'apis' && (version === '' || isCustomGroup(context, group));
  if (request.method !== 'GET' && !answersAll) throw methodNotAllowed();
  if (answer.etag !== undefined) return aggregated(context, request, answer);
  const isRouted = root === 'api' || (version !== '' && !isCustomGroup(context, group));
  request.reply.agree(isRouted ? 'document' : 'unrouted document');
  return { is: 'document', status: 200, value: answer.value, form: 'agreed' };
}

const knownGroup = ({ table }: ServerContext, name: string): boolean =>
  name === '' || table.groups.some(({ group }) => group === name);

/** Paths of custom groups are not routes: what is not served there is no API at all. */
const isCustomGroup = ({ table }: ServerContext, name: string): boolean =>
  table.all().some(({ group, custom }) => custom && group === name);

const plainText = 'text/plain; charset=utf-8';
const noSniff = { 'x-content-type-options': 'nosniff' };

const pageNotFound: DocumentOutcome = {
  is: 'bytes',
  status: 404,
  type: plainText,
  body: '404 page not found\n',
  headers: noSniff,
};

function aggregated({ schema }: ServerContext, request: Incoming, answer: DiscoveryAnswer): DocumentOutcome {
  const { etag = '', contentType = mediaTypes.json } = answer;
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers['if-none-match'] === etag) return { is: 'bytes', status: 304, type: '', body: '', headers };
  const body = encodedAnswers.get(answer) ?? encodeValue(schema, answer.value, plainJson);
  encodedAnswers.set(answer, body);
  return { is: 'bytes', status: 200, type: contentType, body, headers, shared: true };
}

/** Answers that are kept stay encoded. */
const encodedAnswers = new WeakMap<DiscoveryAnswer, Buffer>();

function discoveryOf(
  { table, address, aggregator }: ServerContext,
  request: Incoming,
  path: string,
): DiscoveryAnswer | undefined {
  const [root, group, version, ...more] = path
    .split('/')
    .slice(1)
    .filter((part, at, all) => part !== '' || at < all.length - 1);
  if (more.length > 0) return undefined;
  const groups = aggregator?.groups(table.groups) ?? table.groups;
  const wrap = (value: object | undefined): DiscoveryAnswer | undefined => value && { value };
  if (group === undefined) {
    const wanted = wantsAggregated(acceptOf(request));
    if (wanted === 'unknown') throw notAcceptable(Object.values(mediaTypes));
    if (wanted) return aggregatedDiscovery(table, root === 'api', aggregator);
    return wrap(root === 'api' ? legacyVersions(address()) : legacyGroups(groups));
  }
  if (root === 'api') return version === undefined ? wrap(legacyResources(table, '', group)) : undefined;
  return wrap(version === undefined ? legacyGroup(groups, group) : legacyResources(table, group, version));
}

async function serveNamed(context: ServerContext, named: NamedPaths, request: Incoming, path: string): Promise<Outcome> {
  const { health, openApi, documents } = named;
  const answer = await routeHealth(request.uri, health.lists());
  if (answer) {
    for (const { name, reason } of answer.failures) context.logger.warn('health check failed', { check: name, reason });
    return { is: 'bytes', status: answer.status, type: plainText, body: answer.body, headers: noSniff };
  }
  if (path === '/version' || path === '/version/') return version(context, request);
  if (path === '/metrics') {
    const { metrics } = context;
    return { is: 'bytes', status: 200, type: metrics.contentType, body: await metrics.expose() };
  }
  const paths = (): string[] => [...rootPaths(context, named), ...(documents?.keys() ?? [])].sort();
  if (path === '/flagz' || path === '/statusz') return zpage(named, request, paths());
  if (path === '/' || path === '' || path === '/index.html') {
    const value = { paths: paths() };
    return { is: 'document', status: 200, value, form: 'indented' };
  }
  const text = path.startsWith('/debug/') ? named.debug?.(path, request.query) : undefined;
  if (text !== undefined) return { is: 'bytes', status: 200, type: plainText, body: text, headers: noSniff };
  if (path === '/debug/decisions' && named.decisions) {
    const value = await named.decisions(request.query, request.user, request.cancellation.signal);
    return { is: 'document', status: 200, value, form: 'indented' };
  }
  const document = documents?.get(path.replace(/\/$/, ''))?.();
  if (document) {
    if (request.method !== 'GET') throw methodNotAllowed();
    const refusal = routerRefusal(acceptOf(request), [document.type]);
    if (refusal) throw refusal;
    return { is: 'bytes', status: 200, ...document };
  }
  return (path.startsWith('/openapi/') && (await openApi.serve(request, path))) || pageNotFound;
}

function version(context: ServerContext, request: Incoming): Outcome {
  const refusal = routerRefusal(acceptOf(request), [mediaTypes.json]);
  if (refusal) throw refusal;
  if (request.method !== 'GET') throw methodNotAllowed();
  return { is: 'document', status: 200, value: context.version, form: 'indented' };
}

async function zpage({ flags, clock }: NamedPaths, request: Incoming, paths: readonly string[]): Promise<Outcome> {
  const userAgent = String(request.headers['user-agent'] ?? '');
  const asked = { target: request.uri, accept: acceptOf(request), userAgent };
  const page = await routeZpage(asked, { component: 'apiserver', clock, flags, paths });
  return page ? { is: 'bytes', ...page } : pageNotFound;
}

function rootPaths({ table, aggregator }: ServerContext, { health, flags }: NamedPaths): string[] {
  const groups = (aggregator?.groups(table.groups) ?? table.groups).flatMap(({ group, versions }) =>
    group === ''
      ? ['/api', ...versions.map((version) => `/api/${version}`)]
      : [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)],
  );
  const lists = health.lists();
  const checks = Object.entries(lists).flatMap(([endpoint, list]) => [
    `/${endpoint}`,
    ...(list ?? []).map(({ name }) => `/${endpoint}/${name}`),
  ]);
  const zpages = flags ? ['/flagz', '/statusz'] : ['/statusz'];
  const discovery = ['/apis', '/apis/', '/openapi/v2', '/openapi/v3', '/openapi/v3/'];
  return [...groups, ...discovery, ...checks, '/metrics', '/metrics/slis', ...zpages, '/version'].sort();
}
