// EndpointSlices that say what somebody's own Endpoints say (pkg/controller/endpointslicemirroring). Pure.
import type { EndpointAddress, Endpoints, EndpointSubset, Service } from '#api/core/v1';
import type { Endpoint, EndpointPort, EndpointSlice } from '#api/discovery/v1';
import {
  addressFamily,
  type AddressFamily,
  lastChangeTriggerTime,
  managedByLabel,
  packSlices,
  type PortGroup,
  portsKey,
  serviceNameLabel,
  type SlicePlan,
} from '#component-helpers/endpoints';
import { controllerRef, type Effect, type Plan } from '#controller-runtime';
import { endpointSlices, typed } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { endpointsPerSubsetMax } from './limits.ts';

export const controllerName = 'endpointslicemirroring-controller.k8s.io';
const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
const privateAnnotations = [lastChangeTriggerTime, 'kubectl.kubernetes.io/last-applied-configuration'];

export interface MirrorView {
  endpoints: Endpoints | undefined;
  service: Service | undefined;
  /** Mirrors of these Endpoints. */
  slices: readonly EndpointSlice[];
}

const types: Record<AddressFamily, string> = { 4: 'IPv4', 6: 'IPv6' };

/** Written by somebody, for a Service that selects no pods. */
const isMirrored = ({ metadata }: Endpoints): boolean =>
  metadata.labels?.[skipMirrorLabel] !== 'true' && metadata.annotations?.[leaderAnnotation] === undefined;

export function reconcile({ endpoints: cached, service, slices }: MirrorView): Plan {
  if (!cached || !isMirrored(cached) || !service || service.spec?.selector !== undefined) {
    const because = slices.length > 0 ? 'These Endpoints need no mirror any more, so its EndpointSlices go.' : undefined;
    return { effects: slices.map(removeSlice), ...(because && { because }) };
  }
  const endpoints = typed(cached, 'v1', 'Endpoints');
  const desired = desiredOf(endpoints.subsets ?? []);
  const plans = ([4, 6] as const).map((family) => planFamily(endpoints, family, desired.groups[family], slices));
  const effects = [...problems(endpoints, desired), ...plans.flatMap((plan) => effectsOf(endpoints, plan))];
  return {
    effects,
    because: `The Endpoints ${endpoints.metadata.name ?? ''} were written by somebody, and EndpointSlices repeat them.`,
  };
}

interface Desired {
  groups: Record<AddressFamily, PortGroup[]>;
  invalid: number;
  skipped: number;
}

function desiredOf(subsets: readonly EndpointSubset[]): Desired {
  const byPorts: Record<AddressFamily, Map<string, PortGroup>> = { 4: new Map(), 6: new Map() };
  const desired: Desired = { groups: { 4: [], 6: [] }, invalid: 0, skipped: 0 };
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const wanted = ports.map(portOf);
    const key = portsKey(wanted);
    let added = 0;
    const put = (address: EndpointAddress, ready: boolean): void => {
      const family = addressFamily(address.ip);
      if (family === undefined) desired.invalid++;
      if (family === undefined || added >= endpointsPerSubsetMax) {
        desired.skipped++;
        return;
      }
      const group = byPorts[family].get(key) ?? { ports: wanted, endpoints: [] };
      group.endpoints.push(endpointOf(address, ready));
      byPorts[family].set(key, group);
      added++;
    };
    for (const address of addresses) put(address, true);
    for (const address of notReadyAddresses) put(address, false);
  }
  desired.groups = { 4: [...byPorts[4].values()], 6: [...byPorts[6].values()] };
  return desired;
}

const portOf = ({
  name = '',
  port,
  protocol = 'TCP',
  appProtocol,
}: NonNullable<EndpointSubset['ports']>[number]): EndpointPort => ({
  name,
  port,
  protocol,
  ...(appProtocol !== undefined && { appProtocol }),
});

const endpointOf = ({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname && { hostname }),
  ...(targetRef && { targetRef }),
  ...(nodeName !== undefined && { nodeName }),
});

function problems(regarding: Endpoints, { invalid, skipped }: Desired): Effect[] {
  const warn = (reason: string, message: string): Effect => ({ op: 'event', regarding, type: 'Warning', reason, message });
  return [
    ...(invalid > 0
      ? [warn('InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`)]
      : []),
    ...(skipped > invalid
      ? [
          warn(
            'TooManyAddressesToMirror',
            `A max of ${endpointsPerSubsetMax} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
          ),
        ]
      : []),
  ];
}

const without = (record: Record<string, string> | undefined, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(record ?? {}).filter(([name]) => !names.includes(name)));

function metadataOf(endpoints: Endpoints) {
  return {
    labels: { ...endpoints.metadata.labels, [serviceNameLabel]: endpoints.metadata.name ?? '', [managedByLabel]: controllerName },
    annotations: without(endpoints.metadata.annotations, privateAnnotations),
    ownerReferences: [controllerRef(endpoints, '', 'v1', 'Endpoints')],
  };
}

function planFamily(
  endpoints: Endpoints,
  family: AddressFamily,
  groups: PortGroup[],
  slices: readonly EndpointSlice[],
): SlicePlan {
  const wanted = metadataOf(endpoints);
  return packSlices({
    groups,
    existing: slices.filter(({ addressType }) => addressType === types[family]),
    blank: (ports) => ({
      metadata: { generateName: `${endpoints.metadata.name ?? ''}-`, namespace: endpoints.metadata.namespace, ...wanted },
      addressType: types[family],
      endpoints: [],
      ports,
    }),
    relabel: (slice) => {
      const { labels = {}, annotations = {}, ownerReferences = [] } = slice.metadata;
      const same = deepEqual({ labels, annotations, ownerReferences }, wanted);
      return same ? slice : { ...slice, metadata: { ...slice.metadata, ...wanted } };
    },
    endpointsMax: endpointsPerSubsetMax,
    placeholder: false,
  });
}

const removeSlice = ({ metadata }: EndpointSlice): Effect => ({
  op: 'delete',
  ref: { resource: endpointSlices, namespace: metadata.namespace ?? '', name: metadata.name ?? '' },
});

function effectsOf(endpoints: Endpoints, { create, update, remove }: SlicePlan): Effect[] {
  const write =
    (op: 'create' | 'update') =>
    (slice: EndpointSlice): Effect => ({
      op,
      resource: endpointSlices,
      object: typed(slice, 'discovery.k8s.io/v1', 'EndpointSlice'),
    });
  const creates = endpoints.metadata.deletionTimestamp === undefined ? create : [];
  return [...creates.map(write('create')), ...update.map(write('update')), ...remove.map(removeSlice)];
}
