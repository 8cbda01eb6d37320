// The slices of one Service (k8s.io/endpointslice reconciler). Pure.
import type { Node, Pod, Service } from '#api/core/v1';
import type { EndpointPort, EndpointSlice } from '#api/discovery/v1';
import {
  addressFamily,
  type AddressFamily,
  headlessLabel,
  isHeadlessService,
  isPodAddressable,
  lastChangeTriggerTime,
  managedByLabel,
  packSlices,
  type PortGroup,
  portsKey,
  selectsPods,
  type ServedPort,
  servedPorts,
  serviceNameLabel,
  type SlicePlan,
  triggerTime,
} from '#component-helpers/endpoints';
import { controllerRef, type Effect, type EffectEvents, type Plan } from '#controller-runtime';
import { endpointSlices, typed } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { endpointOf, isAuto, portsOf } from './endpoints.ts';
import { endpointsPerSliceMax, missingNodeRetryMs } from './limits.ts';
import { zoneHints } from './topology.ts';

export const controllerName = 'endpointslice-controller.k8s.io';

export interface EndpointSliceView {
  /** Undefined: it is gone, and its slices with it. */
  service: Service | undefined;
  pods: readonly Pod[];
  /** Nodes of the pods, by name. */
  nodes: ReadonlyMap<string, Node>;
  /** Each zone's part of the CPU of all nodes, for a Service of topology mode Auto; absent: it is not known. */
  cpu?: ReadonlyMap<string, number>;
  /** The Service's slices that this loop manages. */
  slices: readonly EndpointSlice[];
}

const addressTypes: Record<AddressFamily, string> = { 4: 'IPv4', 6: 'IPv6' };

function familiesOf({ spec }: Service): AddressFamily[] {
  const named = (spec?.ipFamilies ?? []).flatMap((family): AddressFamily[] =>
    family === 'IPv4' ? [4] : family === 'IPv6' ? [6] : [],
  );
  if (named.length > 0) return named;
  if (spec?.clusterIP && spec.clusterIP !== 'None') return [addressFamily(spec.clusterIP) ?? 4];
  return [4, 6];
}

export function reconcile(view: EndpointSliceView): Plan {
  const { service: cached, pods, nodes, slices } = view;
  if (!cached || !selectsPods(cached)) return { effects: [] };
  const service = typed(cached, 'v1', 'Service');
  const alive = slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const families = familiesOf(service);
  const known = new Set(families.map((family) => addressTypes[family]));
  const plans = families.map((family) => planFamily(service, family, view, alive));
  const stray = alive.filter(({ addressType }) => !known.has(addressType));
  const trigger = triggerTime(service, pods, alive);
  const effects: Effect[] = [
    ...plans.flatMap((plan) => effectsOf(service, plan, trigger)),
    ...stray.map((slice) => removeSlice(slice, service)),
  ];
  // Told when something is written, not again and again.
  if (effects.length > 0) effects.push(...plans.flatMap(({ hints }) => hints ?? []));
  const homeless = pods.some((pod) => isPodAddressable(pod, true) && !hasNode(pod, nodes, service));
  const ready = pods.filter((pod) => isPodAddressable(pod, true)).length;
  return {
    effects,
    ...(homeless && { requeueAfterMs: missingNodeRetryMs }),
    because:
      effects.length > 0
        ? `Service ${service.metadata.name ?? ''} is backed by ${ready} pods with an address, and its EndpointSlices are brought in line.`
        : `The EndpointSlices of Service ${service.metadata.name ?? ''} list its ${ready} pods as they are: nothing to do.`,
  };
}

/** Pods whose node is not known wait for it, unless the Service publishes every address. */
const hasNode = (pod: Pod, nodes: ReadonlyMap<string, Node>, service: Service): boolean =>
  nodes.has(pod.spec?.nodeName ?? '') || service.spec?.publishNotReadyAddresses === true;

function groupOf(groups: Map<string, PortGroup>, ports: EndpointPort[]): PortGroup {
  const key = portsKey(ports);
  const group = groups.get(key) ?? { ports, endpoints: [] };
  groups.set(key, group);
  return group;
}

function planFamily(
  service: Service,
  family: AddressFamily,
  { pods, nodes, cpu }: EndpointSliceView,
  slices: readonly EndpointSlice[],
): SlicePlan & { hints: Effect | undefined } {
  const groups = new Map<string, PortGroup>();
  const served = servedPorts(service);
  const known = new Map<readonly ServedPort[], PortGroup>();
  for (const pod of pods) {
    if (!isPodAddressable(pod, true) || !hasNode(pod, nodes, service)) continue;
    const endpoint = endpointOf(pod, nodes.get(pod.spec?.nodeName ?? ''), service, family);
    if (endpoint.addresses.length === 0) continue;
    const list = served(pod);
    const group = known.get(list) ?? groupOf(groups, portsOf(list));
    group.endpoints.push(endpoint);
    known.set(list, group);
  }
  const ofType = slices.filter(({ addressType }) => addressType === addressTypes[family]);
  const own = ofType.filter((slice) => isOwnedBy(slice, service));
  const hints = isAuto(service) ? giveHints(service, [...groups.values()], cpu, own) : undefined;
  const plan = packSlices({
    groups: [...groups.values()],
    existing: own,
    blank: (ports) => blankSlice(service, addressTypes[family], ports),
    relabel: (slice) => relabelled(slice, service),
    endpointsMax: endpointsPerSliceMax,
    placeholder: true,
  });
  const foreign = ofType.filter((slice) => !own.includes(slice));
  return { ...plan, remove: [...plan.remove, ...foreign], hints };
}

/** Puts hints into all endpoints of an address family, or into none. Changes of that are reported as an event of the Service. */
function giveHints(
  service: Service,
  groups: readonly PortGroup[],
  cpu: ReadonlyMap<string, number> | undefined,
  slices: readonly EndpointSlice[],
): Effect | undefined {
  const given = zoneHints(
    groups.flatMap(({ endpoints }) => endpoints),
    cpu,
  );
  const had = slices.some(({ endpoints }) => endpoints?.some(({ hints }) => hints !== undefined && hints !== null));
  const about = `, addressType: ${slices[0]?.addressType ?? 'IPv4'}`;
  const event = (type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
    op: 'event',
    regarding: service,
    type,
    reason,
    message: message + about,
  });
  if ('disabled' in given) return event('Warning', 'TopologyAwareHintsDisabled', given.disabled);
  for (const [endpoint, name] of given.zones) endpoint.hints = { forZones: [{ name }] };
  return had ? undefined : event('Normal', 'TopologyAwareHintsEnabled', 'Topology Aware Hints has been enabled');
}

const isOwnedBy = ({ metadata }: EndpointSlice, service: Service): boolean =>
  metadata.ownerReferences?.some(
    ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1',
  ) === true;

const reserved = [serviceNameLabel, managedByLabel, headlessLabel];

const unreserved = (labels: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !reserved.includes(name)));

const labelsOf = (service: Service): Record<string, string> => ({
  ...unreserved(service.metadata.labels),
  ...(isHeadlessService(service) && { [headlessLabel]: '' }),
  [serviceNameLabel]: service.metadata.name ?? '',
  [managedByLabel]: controllerName,
});

const relabelled = (slice: EndpointSlice, service: Service): EndpointSlice => {
  const labels = labelsOf(service);
  return deepEqual(labels, slice.metadata.labels ?? {}) ? slice : { ...slice, metadata: { ...slice.metadata, labels } };
};

const blankSlice = (service: Service, addressType: string, ports: EndpointPort[]): EndpointSlice => ({
  metadata: {
    generateName: `${service.metadata.name ?? ''}-`,
    namespace: service.metadata.namespace,
    labels: labelsOf(service),
    ownerReferences: [controllerRef(service, '', 'v1', 'Service')],
  },
  addressType,
  endpoints: [],
  ports,
});

function effectsOf(service: Service, { create, update, remove }: SlicePlan, trigger: string | undefined): Effect[] {
  const creates = service.metadata.deletionTimestamp === undefined ? create : [];
  return [
    ...creates.map(
      (slice): Effect => ({
        op: 'create',
        resource: endpointSlices,
        object: stamped(slice, trigger),
        events: failing(service, 'failed to create EndpointSlice'),
      }),
    ),
    ...update.map(
      (slice): Effect => ({
        op: 'update',
        resource: endpointSlices,
        object: stamped(slice, trigger),
        events: failing(service, `failed to update ${slice.metadata.name ?? ''} EndpointSlice`),
      }),
    ),
    ...remove.map((slice) => removeSlice(slice, service)),
  ];
}

const removeSlice = (slice: EndpointSlice, service: Service): Effect => ({
  op: 'delete',
  ref: { resource: endpointSlices, namespace: slice.metadata.namespace ?? '', name: slice.metadata.name ?? '' },
  events: failing(service, `failed to delete ${slice.metadata.name ?? ''} EndpointSlice`),
});

/** The annotation is for measuring how fast proxies follow: it must not outlive the change it belongs to. */
function stamped(slice: EndpointSlice, trigger: string | undefined): EndpointSlice {
  const { [lastChangeTriggerTime]: _, ...annotations } = slice.metadata.annotations ?? {};
  if (trigger !== undefined) annotations[lastChangeTriggerTime] = trigger;
  return typed({ ...slice, metadata: { ...slice.metadata, annotations } }, 'discovery.k8s.io/v1', 'EndpointSlice');
}

function failing(service: Service, what: string): EffectEvents {
  const { namespace, name } = service.metadata;
  const message = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${what} for Service ${namespace}/${name}: {error}`;
  return { regarding: service, failure: { reason: 'FailedToUpdateEndpointSlices', message } };
}
