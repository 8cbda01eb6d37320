// pods/proxy, services/proxy and nodes/proxy: a way into the cluster network through the apiserver
// (pkg/registry/core/{pod,service,node}/rest proxy).
import { addressesOf, isElsewhere } from '../../../platform/network.ts';
import type { Endpoints, Pod, Service } from '#api/core/v1';
import { badRequest, notFound, plainError, serviceUnavailable } from '#apimachinery/errors';
import type { UnknownObject } from '#apimachinery/meta';
import type { Rng } from '#utils';
import type { SpecialContext, SpecialRest } from '../../special.ts';
import { forwardRequest, requireExchange } from './forward.ts';
import { defaultPortOf, hostPort, type KubeletClients } from './kubelet-clients.ts';
import { type ProxyName, parseProxyName } from './proxy-target.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

interface Location {
  scheme: string;
  host: string;
  port: number | undefined;
}

const named = (what: string, id: string): ProxyName => {
  const name = parseProxyName(id);
  if (!name) throw badRequest(`invalid ${what} request "${id}"`);
  return name;
};

const portNumber = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);

function podLocation({ cluster, target: { namespace, name: id } }: SpecialContext): Location {
  const { scheme, name, port } = named('pod', id);
  const pod = cluster.get<Pod>('', 'pods', namespace, name);
  if (!pod) throw notFound({ group: '', resource: 'pods' }, name);
  const first = pod.spec?.containers?.find(({ ports }) => ports?.length)?.ports?.[0]?.containerPort;
  const host = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? '';
  if (!isElsewhere(host)) throw badRequest('address not allowed');
  return { scheme, host, port: port === '' ? first : portNumber(port) };
}

/** Only addresses of pods that still have them: an Endpoints object is written by users, too. */
function podAddresses(
  { cluster, target: { namespace } }: SpecialContext,
  addresses: NonNullable<Endpoints['subsets']>[number]['addresses'],
) {
  return (addresses ?? []).filter(({ ip, targetRef }) => {
    if (!targetRef || targetRef.namespace !== namespace) return false;
    const pod = cluster.get<Pod>('', 'pods', namespace, targetRef.name ?? '');
    return pod?.status?.podIPs?.some((entry) => entry.ip === ip) ?? false;
  });
}

function serviceLocation(context: SpecialContext, rng: Rng): Location {
  const { cluster } = context;
  const { namespace, name: id } = context.target;
  const { scheme, name, port } = named('service', id);
  const services = { group: '', resource: 'services' };
  let portName = port;
  const number = portNumber(port);
  if (number !== undefined) {
    const service = cluster.get<Service>('', 'services', namespace, name);
    if (!service) throw notFound(services, name);
    const found = service.spec?.ports?.find((entry) => entry.port === number);
    if (!found) throw serviceUnavailable(`no service port ${number} found for service "${name}"`);
    portName = found.name ?? '';
  }
  const endpoints = cluster.get<Endpoints>('', 'endpoints', namespace, name);
  if (!endpoints) throw notFound(services, name);
  if (!endpoints.subsets?.length) throw serviceUnavailable(`no endpoints available for service "${name}"`);
  for (const subset of endpoints.subsets) {
    const target = subset.ports?.find((entry) => (entry.name ?? '') === portName);
    const addresses = target ? podAddresses(context, subset.addresses) : [];
    const chosen = addresses[addresses.length > 0 ? rng.int(addresses.length) : 0];
    if (target && chosen) return { scheme, host: chosen.ip, port: target.port };
  }
  throw serviceUnavailable(`no endpoints available for service "${id}"`);
}

async function checkHost(host: string): Promise<void> {
  const addresses = await addressesOf(host).catch((error: Error) => {
    throw badRequest(error.message);
  });
  if (addresses.length === 0) throw badRequest('no addresses for hostname');
  if (!addresses.every(isElsewhere)) throw badRequest('address not allowed');
}

const queryOf = (target: string): string => (target.includes('?') ? target.slice(target.indexOf('?')) : '');

async function forward(
  context: SpecialContext,
  resource: string,
  connect: () => ReturnType<KubeletClients['to']>,
  { keep, host, at }: { keep: boolean; host: string; at: string },
) {
  const exchange = requireExchange(context, `${resource}/proxy`);
  const query = queryOf(exchange.target);
  const path = exchange.target.slice(0, exchange.target.length - query.length);
  if (context.subpath === '' && !exchange.upgrade && (exchange.method === 'GET' || exchange.method === 'HEAD')) {
    exchange.respond(301, { location: `${path}/${query}` }).end();
    return 'handled' as const;
  }
  const client = connect();
  try {
    const { subpath } = context;
    const prefix = path.endsWith(subpath) ? path.slice(0, path.length - subpath.length) : path;
    const page = { prefix, host, clientHost: String(exchange.headers['host'] ?? exchange.headers[':authority'] ?? '') };
    const target = { client, host: at, path: (subpath || '/') + query, page };
    await forwardRequest(exchange, target, context.request.cancellation.signal);
  } finally {
    if (!keep) client.close();
  }
  return 'handled' as const;
}

const optionsKinds: Readonly<Record<string, string>> = {
  pods: 'PodProxyOptions',
  services: 'ServiceProxyOptions',
  nodes: 'NodeProxyOptions',
};

function endpoint(resource: string, handle: SpecialRest['handle']): SpecialRest {
  const kind = optionsKinds[resource] as string;
  return {
    group: '',
    version: 'v1',
    resource,
    subresource: 'proxy',
    namespaced: resource !== 'nodes',
    methods,
    kind: { group: '', version: 'v1', kind },
    connectOptions: (_query, subpath) => ({ apiVersion: 'v1', kind, metadata: {}, path: subpath }) as unknown as UnknownObject,
    handle,
  };
}

/** Makes the endpoints `proxy` of nodes, pods and services. */
export function proxyEndpoints(kubelets: KubeletClients, rng: Rng): SpecialRest[] {
  const reach = (resource: string, { scheme, host, port }: Location, context: SpecialContext) =>
    forward(context, resource, () => kubelets.to(scheme, host, port), {
      keep: false,
      host: port === undefined ? host : `${host}:${port}`,
      at: hostPort(host, port ?? defaultPortOf(scheme)),
    });
  return [
    endpoint('pods', (context) => reach('pods', podLocation(context), context)),
    endpoint('services', (context) => reach('services', serviceLocation(context, rng), context)),
    endpoint('nodes', async (context) => {
      const { scheme, name, port } = named('node', context.target.name);
      const { client, address, hostPort: at } = kubelets.of(name);
      await checkHost(address.host);
      if (port === '' || Number(port) === address.port)
        return forward(context, 'nodes', () => client, { keep: true, host: `${address.host}:${address.port}`, at });
      if (portNumber(port) === undefined) throw plainError(`invalid port "${port}"`);
      return reach('nodes', { scheme, host: address.host, port: portNumber(port) }, context);
    }),
  ];
}
