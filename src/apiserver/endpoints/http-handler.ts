// Finds what serves a path: discovery, health, metrics and OpenAPI by name, resources by the table, the rest is not found.
import { routeHealth } from '#component-base';
import { methodNotSupported, notAcceptable } from '#apimachinery/errors';
import type { PublishedDocument } from '../contracts.ts';
import type { ServerContext } from '../server-context.ts';
import {
  aggregatedDiscovery,
  type DiscoveryAnswer,
  legacyGroup,
  legacyGroups,
  legacyResources,
  legacyVersions,
  wantsAggregated,
} from './discovery.ts';
import type { Exchange, ExchangeHandler } from './exchange.ts';
import type { HealthChecks } from './health.ts';
import { mediaTypes, negotiate, routerRefusal } from './negotiation.ts';
import type { OpenApi } from './openapi/serve.ts';
import { serveResource } from './resource-handler.ts';
import { methodNotAllowed, pathNotFound } from './route-errors.ts';
import { encodeValue, plainJson, sendBytes, sendValue } from './respond.ts';
import { serveSpecial } from './special-handler.ts';

const methodVerbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

export interface Parts {
  health: HealthChecks;
  openApi: OpenApi;
  /** Documents at paths of their own. */
  documents?: ReadonlyMap<string, () => PublishedDocument>;
}

export function createHandler(context: ServerContext, parts: Parts): ExchangeHandler {
  return async (exchange) => {
    const { info } = exchange;
    const remote = context.aggregator?.serving(info.path);
    if (remote) return context.aggregator?.forward(exchange, remote);
    if (info.isResource) return serveResourcePath(context, exchange);
    if (info.path === '/api' || info.path.startsWith('/api/') || info.path === '/apis' || info.path.startsWith('/apis/')) {
      return serveDiscovery(context, exchange);
    }
    return serveNamed(context, parts, exchange);
  };
}

function serveResourcePath(context: ServerContext, exchange: Exchange): Promise<void> | void {
  const { info, request } = exchange;
  const { group, version, resource: name, subresource, parts } = info;
  if (parts.length > 3 && subresource !== 'proxy') throw pathNotFound();
  const special = context.special(group, version, name, subresource);
  if (special) return serveSpecial(context, exchange, special);
  const resource = context.table.find(group, version, name);
  if (!resource && group !== '' && !knownGroup(context, group)) return sendPageNotFound(exchange);
  if (!resource && group !== '' && isCustomGroup(context, group)) return sendPageNotFound(exchange);
  if (!resource || parts.some((part, at) => part === '' || (at !== 1 && (part === '.' || part === '..')))) throw pathNotFound();
  const isCollection = info.name === '';
  if (resource.namespaced && info.namespace === '') {
    // Cluster-wide views of namespaced resources are for reading only.
    if (!isCollection) throw pathNotFound();
    if (request.method !== 'GET') throw methodNotAllowed();
  }
  // A namespace is in itself, but holds no others.
  const isOwnNamespace = name === 'namespaces' && info.name === info.namespace;
  if (!resource.namespaced && info.namespace !== '' && !isOwnNamespace) {
    if (resource.custom) return sendPageNotFound(exchange);
    throw pathNotFound();
  }
  const verbs = subresource === '' ? resource.verbs : resource.subresources.get(subresource)?.verbs;
  if (!verbs) throw pathNotFound();
  const verb = methodVerbs[request.method] ?? info.verb;
  const allowed = verb === 'watch' && !isCollection ? verbs.has('get') : verbs.has(verb);
  const misplaced = (verb === 'create' && !isCollection) || ((verb === 'update' || verb === 'patch') && isCollection);
  // Custom resources have one handler for all their methods, which names the verb.
  if (!allowed && resource.custom && verb !== '') throw methodNotSupported({ group, resource: name }, verb);
  if (!allowed || misplaced || verb === '' || request.method === 'HEAD') throw methodNotAllowed();
  return serveResource(context, exchange, resource);
}

function serveDiscovery(context: ServerContext, exchange: Exchange): void {
  const { method } = exchange.request;
  const answer = discoveryOf(context, exchange);
  if (!answer) {
    const [, , group = ''] = exchange.info.path.split('/');
    const isRoute = knownGroup(context, group) && !isCustomGroup(context, group);
    if (exchange.info.path.startsWith('/apis/') && !isRoute) return sendPageNotFound(exchange);
    throw pathNotFound();
  }
  // The root of groups answers every method; the others only GET, as upstream's routes are laid.
  if (method !== 'GET' && !/^\/apis\/?$/.test(exchange.info.path)) throw methodNotAllowed();
  if (answer.etag !== undefined) return sendAggregated(exchange, answer);
  const negotiated = negotiate(
    exchange.accept,
    { tables: false, protobuf: true, listable: false },
    exchange.query,
    exchange.userAgent,
  );
  sendValue(exchange, 200, answer.value, { ...negotiated, as: undefined } as never);
}

const knownGroup = ({ table }: ServerContext, name: string): boolean =>
  name === '' || table.groups.some(({ group }) => group === name);

/** Paths of custom groups are not routes: what is not served there is no API at all. */
const isCustomGroup = ({ table }: ServerContext, name: string): boolean =>
  table.all().some(({ group, custom }) => custom && group === name);

const sendPageNotFound = (exchange: Exchange): void =>
  sendBytes(exchange, 404, 'text/plain; charset=utf-8', Buffer.from('404 page not found\n'), {
    'x-content-type-options': 'nosniff',
  });

function sendAggregated(exchange: Exchange, answer: DiscoveryAnswer): void {
  const { etag = '', contentType = mediaTypes.json } = answer;
  const extra = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (exchange.request.headers['if-none-match'] === etag)
    return exchange.response.send(304, { ...exchange.headers(), ...extra }, '');
  sendBytes(exchange, 200, contentType, encodeValue(exchange.schema, answer.value, plainJson), extra);
}

function discoveryOf({ table, address, aggregator }: ServerContext, { info, accept }: Exchange): DiscoveryAnswer | undefined {
  const [root, group, version, ...more] = info.path
    .split('/')
    .slice(1)
    .filter((part, at, all) => part !== '' || at < all.length - 1);
  if (more.length > 0) return undefined;
  const groups = aggregator?.groups(table.groups) ?? table.groups;
  const wrap = (value: object | undefined): DiscoveryAnswer | undefined => value && { value };
  if (group === undefined) {
    const aggregated = wantsAggregated(accept);
    if (aggregated === 'unknown') throw notAcceptable(Object.values(mediaTypes));
    if (aggregated) return aggregatedDiscovery(table, root === 'api', aggregator);
    return wrap(root === 'api' ? legacyVersions(address()) : legacyGroups(groups));
  }
  if (root === 'api') return version === undefined ? wrap(legacyResources(table, '', group)) : undefined;
  return wrap(version === undefined ? legacyGroup(groups, group) : legacyResources(table, group, version));
}

async function serveNamed(context: ServerContext, { health, openApi, documents }: Parts, exchange: Exchange): Promise<void> {
  const { info, request } = exchange;
  const answer = await routeHealth(request.path, health.lists());
  if (answer) {
    for (const { name, reason } of answer.failures) context.logger.warn('health check failed', { check: name, reason });
    return sendBytes(exchange, answer.status, 'text/plain; charset=utf-8', Buffer.from(answer.body), {
      'x-content-type-options': 'nosniff',
    });
  }
  if (info.path === '/version' || info.path === '/version/') return serveVersion(context, exchange);
  if (info.path === '/metrics')
    return sendBytes(exchange, 200, context.metrics.contentType, Buffer.from(await context.metrics.expose()));
  if (info.path === '/' || info.path === '')
    return sendValue(
      exchange,
      200,
      { paths: [...rootPaths(context, health), ...(documents?.keys() ?? [])].sort() },
      { ...plainJson, pretty: true },
    );
  const document = documents?.get(info.path)?.();
  if (document) {
    if (request.method !== 'GET') throw methodNotAllowed();
    return sendBytes(exchange, 200, document.type, Buffer.from(document.body), document.headers);
  }
  if (info.path.startsWith('/openapi/') && (await openApi.serve(exchange))) return;
  sendPageNotFound(exchange);
}

function serveVersion(context: ServerContext, exchange: Exchange): void {
  const refusal = routerRefusal(exchange.accept, [mediaTypes.json]);
  if (refusal) throw refusal;
  if (exchange.request.method !== 'GET') throw methodNotAllowed();
  sendValue(exchange, 200, context.version, { ...plainJson, pretty: true });
}

function rootPaths({ table, aggregator }: ServerContext, health: HealthChecks): string[] {
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
  return [...groups, '/apis', ...checks, '/metrics', '/openapi/v2', '/openapi/v3', '/version'].sort();
}
