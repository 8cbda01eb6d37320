// Cluster DNS as an add-on: the Service `kube-dns` that kubelets point pods at. Its endpoints are the nodes themselves: the agent of each node runs a
// name server beside its kubelet, so names resolve as long as a pod's own node lives, whether or not the control plane does.
import type { Node } from '#api/core/v1';
import type { Endpoint, EndpointSlice } from '#api/discovery/v1';
import { isInvalid } from '#apimachinery/errors';
import { type Clock, deepEqual, type Logger, type Rng } from '#utils';
import type { KubeClient } from '#client';
import { type ControllerDefinition, defineController, type Plan, watch, wholeCluster } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { allow } from '#controller-runtime/workload';
import { applyObjects } from '../objects/apply.ts';
import { dnsNodeLabel } from './dns-label.ts';
import { grantClusterRole } from '../objects/grant.ts';
import type { PlaneAccess } from '../control-plane.ts';
import { identities } from '../certificates/identities.ts';
import { runOwnLoop } from './own-loop.ts';
import { clusterNetworks } from '../state/networks.ts';

const endpointSlices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const;
const namespace = 'kube-system';
const service = 'kube-dns';
const ports = [
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
];
const endpointsPerSliceMax = 100;
const managedBy = 'sagong';
const sliceLabels = { 'kubernetes.io/service-name': service, 'endpointslice.kubernetes.io/managed-by': managedBy };

/**
 * What name servers may read. Must be in place before they start to watch. Those beside kubelets get no more than they read, since each machine has their
 * certificate; `kubeadm`: all that it grants to its pods, whose program a user may choose.
 */
export const grantDns = (client: KubeClient, as: 'kubeadm' | 'beside kubelets' = 'beside kubelets'): Promise<void> =>
  grantClusterRole(client, {
    role: 'system:coredns',
    serviceAccount: 'coredns',
    rules: [
      {
        apiGroups: [''],
        resources: ['services', 'namespaces', ...(as === 'kubeadm' ? ['endpoints', 'pods'] : [])],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  });

// A little longer than an apiserver keeps the claim of a Service whose write it could not finish.
const claimedTimeoutMs = 90_000;
const claimedRetryMs = 1_000;

/**
 * Publishes the Service. Its endpoints are the pods of `selector`, or else those that the loop below gives it. An earlier try may have claimed the
 * address and not have come further, as while etcd elects a leader: then this waits until the apiserver lets it go.
 */
export async function publishDns(client: KubeClient, clock: Clock, selector?: Record<string, string>): Promise<void> {
  const deadline = clock.monotonic() + claimedTimeoutMs;
  for (;;) {
    try {
      return await applyDns(client, selector);
    } catch (error) {
      const isClaimed = isInvalid(error) && error.message.includes('provided IP is already allocated');
      if (!isClaimed || clock.monotonic() > deadline) throw error;
      await clock.sleep(claimedRetryMs);
    }
  }
}

const applyDns = (client: KubeClient, selector?: Record<string, string>): Promise<void> =>
  applyObjects(client, [
    {
      resource: 'services',
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: service,
          namespace,
          labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
        },
        spec: {
          clusterIP: clusterNetworks.dnsServiceIp,
          ports: ports.map((port) => ({ ...port, targetPort: port.port })),
          ...(selector && { selector }),
        },
      },
    },
  ]);

/** The endpoint of the node's name server; undefined where the node runs none. The hint sends the node's own pods there (KEP-3015). */
function endpointOf({ metadata, status }: Node): Endpoint | undefined {
  const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  if (metadata.labels?.[dnsNodeLabel] !== 'true' || address === undefined) return undefined;
  const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  const name = metadata.name ?? '';
  return {
    addresses: [address],
    conditions: { ready, serving: ready, terminating: false },
    nodeName: name,
    hints: { forNodes: [{ name }] },
  };
}

/** The slices that the Service should have. */
export function dnsSlices(all: readonly Node[]): EndpointSlice[] {
  const endpoints = all
    .flatMap((node) => endpointOf(node) ?? [])
    .sort((a, b) => ((a.nodeName ?? '') < (b.nodeName ?? '') ? -1 : 1));
  const count = Math.max(1, Math.ceil(endpoints.length / endpointsPerSliceMax));
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: index === 0 ? 'kube-dns-nodes' : `kube-dns-nodes-${index}`, namespace, labels: sliceLabels },
    addressType: 'IPv4',
    endpoints: endpoints.slice(index * endpointsPerSliceMax, (index + 1) * endpointsPerSliceMax),
    ports,
  }));
}

interface DnsView {
  nodes: readonly Node[];
  slices: readonly EndpointSlice[];
}

/** Makes the Service's slices equal to the nodes that answer. */
export function reconcileDns({ nodes: all, slices }: DnsView): Plan {
  const wanted = dnsSlices(all);
  const kept = new Set(wanted.map(({ metadata }) => metadata.name));
  const effects = wanted.flatMap((slice): Plan['effects'] => {
    const current = slices.find(({ metadata }) => metadata.name === slice.metadata.name);
    if (!current) return [{ op: 'create', resource: endpointSlices, object: slice }];
    if (deepEqual(current.endpoints ?? [], slice.endpoints) && deepEqual(current.ports ?? [], slice.ports)) return [];
    const { endpoints, ports: sorted } = slice;
    return [{ op: 'update', resource: endpointSlices, object: { ...current, endpoints, ports: sorted } as EndpointSlice }];
  });
  for (const { metadata } of slices)
    if (!kept.has(metadata.name))
      effects.push({ op: 'delete', ref: { resource: endpointSlices, namespace, name: metadata.name ?? '' } });
  return { effects, because: `Cluster DNS is answered by ${wanted.flatMap(({ endpoints }) => endpoints ?? []).length} nodes.` };
}

const key = `${namespace}/${service}`;

/** The loop that keeps the endpoints of `kube-dns`. */
export const dnsEndpoints: ControllerDefinition = defineController<DnsView>({
  name: 'cluster-dns-controller',
  for: wholeCluster,
  rights: [
    allow('get,list,watch', 'core', 'nodes'),
    allow('get,list,watch,create,update,delete', 'discovery.k8s.io', 'endpointslices'),
    allow('create', 'core', 'endpoints/restricted'),
  ],
  watches: [
    watch<Node>({ resource: nodes, keys: (now, old) => (old && deepEqual(endpointOf(now), endpointOf(old)) ? [] : [key]) }),
    watch<EndpointSlice>({
      resource: endpointSlices,
      keys: ({ metadata }) => (metadata.labels?.['endpointslice.kubernetes.io/managed-by'] === managedBy ? [key] : []),
    }),
  ],
  view: (_key, cache) => ({
    nodes: cache.list<Node>(nodes),
    slices: cache
      .list<EndpointSlice>(endpointSlices, namespace)
      .filter(({ metadata }) => metadata.labels?.['endpointslice.kubernetes.io/managed-by'] === managedBy),
  }),
  reconcile: reconcileDns,
  periodic: { everyMs: 300_000, keys: () => [key] },
});

/** Publishes the Service of the cluster's DNS and keeps its endpoints. */
export async function startDnsAddon(
  plane: PlaneAccess,
  deps: { clock: Clock; rng: Rng; logger: Logger },
): Promise<{ stop(): Promise<void> }> {
  const admin = plane.client(identities.admin, 'sagong');
  const { name, rights } = dnsEndpoints;
  await Promise.all([
    grantDns(admin),
    grantClusterRole(admin, { role: `system:controller:${name}`, serviceAccount: name, rules: rights }),
    publishDns(admin, deps.clock),
  ]);
  return runOwnLoop(plane, name, dnsEndpoints, deps);
}
