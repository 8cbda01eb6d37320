// Makes ranges of cluster IPs ready for use, and keeps them while addresses are only theirs (pkg/controller/servicecidrs; KEP-1880).
import type { IPAddress, ServiceCIDR } from '#api/networking/v1';
import { formatTime, type GroupVersionResource, type KubeObject } from '#apimachinery/meta';
import { type IPPrefix, parseCIDR, parseIP } from '#apimachinery/validation';
import { type Cache, type ControllerDefinition, defineController, type Effect, type Plan, watch } from '#controller-runtime';
import { refOf } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

const finalizer = 'networking.k8s.io/service-cidr-finalizer';
const managedBy = 'ipallocator.k8s.io';
const name = 'service-cidr-controller';
/** Servers that have not yet heard of the deletion may give addresses that long. */
const graceMs = 10_000;
const networking = (resource: string): GroupVersionResource => ({ group: 'networking.k8s.io', version: 'v1', resource });
const serviceCidrs = networking('servicecidrs');
const ipAddresses = networking('ipaddresses');

export interface ServiceCidrView {
  range: ServiceCIDR | undefined;
  /** All ranges. */
  ranges: readonly ServiceCIDR[];
  /** Names of addresses given to Services; only read for a range that is to go. */
  addresses: readonly string[];
}

const prefixesOf = ({ spec }: ServiceCIDR): IPPrefix[] => (spec?.cidrs ?? []).flatMap((cidr) => parseCIDR(cidr) ?? []);

type Network = Pick<IPPrefix, 'network' | 'length'>;

/** Whether `outer` holds all of `inner`. */
function holds(outer: Network, inner: Network): boolean {
  if (outer.network.family !== inner.network.family || outer.length > inner.length) return false;
  const host = BigInt((outer.network.family === 4 ? 32 : 128) - outer.length);
  return outer.network.value >> host === inner.network.value >> host;
}
const holdersOf = (ranges: readonly ServiceCIDR[], inner: Network): ServiceCIDR[] =>
  ranges.filter((range) => prefixesOf(range).some((outer) => holds(outer, inner)));

function addressOf(text: string): Network | undefined {
  const network = parseIP(text);
  return network && { network, length: network.family === 4 ? 32 : 128 };
}

/** Every part of it is in another range, or no address is in it alone. */
function maySafelyGo(range: ServiceCIDR, { ranges, addresses }: ServiceCidrView): boolean {
  const isOther = (one: ServiceCIDR): boolean => one.metadata.name !== range.metadata.name;
  if (prefixesOf(range).every((prefix) => holdersOf(ranges, prefix).some(isOther))) return true;
  return addresses.every((text) => {
    const address = addressOf(text);
    const holders = address ? holdersOf(ranges, address) : [];
    return holders.length === 0 || holders.some(isOther);
  });
}

/** Says whether it is ready; nothing when it says so already. */
function condition(range: ServiceCIDR, now: number, status: 'True' | 'False', reason: string, message: string): Effect[] {
  const current = (range.status?.conditions ?? []).find(({ type }) => type === 'Ready');
  if (current?.status === status && current.reason === reason && current.message === message) return [];
  return [
    {
      op: 'patch',
      ref: refOf(serviceCidrs, range),
      type: 'application/apply-patch+yaml',
      subresource: 'status',
      force: true,
      fieldManager: name,
      body: {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name: range.metadata.name },
        status: { conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime: formatTime(now) }] },
      },
      events: {
        regarding: { ...range, apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' },
        ...(status === 'True' && {
          failure: { reason: 'KubernetesServiceCIDRError', message: 'The ServiceCIDR Status can not be set to Ready=True' },
        }),
      },
    },
  ];
}

const patchFinalizers = (range: ServiceCIDR, metadata: object): Effect => ({
  op: 'patch',
  ref: refOf(serviceCidrs, range),
  type: 'application/strategic-merge-patch+json',
  body: { metadata },
  goneIsDone: true,
});

export function reconcileServiceCidr(view: ServiceCidrView, now: number): Plan {
  const { range } = view;
  if (!range) return { effects: [] };
  const isProtected = (range.metadata.finalizers ?? []).includes(finalizer);
  const { deletionTimestamp } = range.metadata;
  if (deletionTimestamp === undefined)
    return {
      effects: [
        ...(isProtected ? [] : [patchFinalizers(range, { finalizers: [finalizer] })]),
        ...condition(range, now, 'True', '', 'Kubernetes Service CIDR is ready'),
      ],
      because: 'Services may have its addresses.',
    };
  if (!maySafelyGo(range, view)) {
    const message = 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR';
    return {
      effects: condition(range, now, 'False', 'Terminating', message),
      because: 'Services have addresses that are in no other range.',
    };
  }
  const waitMs = Date.parse(deletionTimestamp) + graceMs - now;
  if (waitMs > 0)
    return { effects: [], requeueAfterMs: waitMs, because: 'No address is in it alone; every server is to know first.' };
  return {
    effects: isProtected ? [patchFinalizers(range, { '$deleteFromPrimitiveList/finalizers': [finalizer] })] : [],
    because: 'No address is in it alone.',
  };
}

const named = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name ?? '');

/** Ranges that have anything in common with this one. */
const overlapping = (range: ServiceCIDR, cache: Cache): string[] => {
  const own = prefixesOf(range);
  return named(
    cache
      .list<ServiceCIDR>(serviceCidrs)
      .filter((other) => prefixesOf(other).some((theirs) => own.some((ours) => holds(theirs, ours) || holds(ours, theirs)))),
  );
};

const isManaged = ({ metadata }: IPAddress): boolean => metadata.labels?.['ipaddress.kubernetes.io/managed-by'] === managedBy;

export const serviceCidrsController: ControllerDefinition = defineController<ServiceCidrView>({
  name,
  for: serviceCidrs,
  serviceAccount: 'service-cidrs-controller',
  rights: [
    allow('get,list,patch,update,watch', 'networking.k8s.io', 'servicecidrs'),
    allow('patch,update', 'networking.k8s.io', 'servicecidrs/finalizers'),
    allow('patch,update', 'networking.k8s.io', 'servicecidrs/status'),
    allow('get,list,watch', 'networking.k8s.io', 'ipaddresses'),
    recordEvents,
  ],
  watches: [
    watch<ServiceCIDR>({
      resource: serviceCidrs,
      // A new range may let one go that it covers.
      keys: (range, old, cache) => [range.metadata.name ?? '', ...(old ? [] : overlapping(range, cache))],
    }),
    watch<IPAddress>({
      resource: ipAddresses,
      keys(address, old, cache) {
        const network = old || !isManaged(address) ? undefined : addressOf(address.metadata.name ?? '');
        // Only for a range that is to go does it matter.
        return network
          ? named(
              holdersOf(
                cache.list<ServiceCIDR>(serviceCidrs).filter(({ metadata }) => metadata.deletionTimestamp),
                network,
              ),
            )
          : [];
      },
    }),
  ],
  view(key, cache) {
    const range = cache.get<ServiceCIDR>(serviceCidrs, '', key);
    const isGoing = range?.metadata.deletionTimestamp !== undefined;
    return {
      range,
      ranges: isGoing ? cache.list<ServiceCIDR>(serviceCidrs) : [],
      addresses: isGoing ? named(cache.list<IPAddress>(ipAddresses).filter(isManaged)) : [],
    };
  },
  reconcile: reconcileServiceCidr,
});
