// The subsets of an Endpoints object: addresses grouped by the ports they have in common (pkg/controller/endpoint, RepackSubsets).
import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service } from '#api/core/v1';
import {
  addressFamily,
  type AddressFamily,
  findPort,
  hostnameUnder,
  isHeadlessService,
  isPodAddressable,
  podAddresses,
} from '#component-helpers/endpoints';
import { sortedJson } from '#apimachinery/codec';
import { isPodReady } from '#component-helpers/workload';

interface Entry {
  address: EndpointAddress;
  ready: boolean;
}

function familyOf({ spec }: Service, pod: Pod): AddressFamily {
  const [first] = spec?.ipFamilies ?? [];
  if (first !== undefined) return first === 'IPv6' ? 6 : 4;
  if (spec?.clusterIP && spec.clusterIP !== 'None') return addressFamily(spec.clusterIP) ?? 4;
  return addressFamily(pod.status?.podIP ?? '') ?? 4;
}

function entryOf(service: Service, pod: Pod): Entry | undefined {
  const everyone = service.spec?.publishNotReadyAddresses === true;
  if (!isPodAddressable(pod, everyone)) return undefined;
  const [ip] = podAddresses(pod, familyOf(service, pod));
  if (ip === undefined) return undefined;
  const hostname = hostnameUnder(pod, service);
  const { name, namespace, uid } = pod.metadata;
  const address: EndpointAddress = {
    ip,
    ...(hostname !== undefined && { hostname }),
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
  return { address, ready: everyone || isPodReady(pod) };
}

/** Ports of the Service as the pod serves them; one empty place for a headless Service without ports. */
function portsOf(service: Service, pod: Pod): (EndpointPort | undefined)[] {
  const ports = service.spec?.ports ?? [];
  if (ports.length === 0) return isHeadlessService(service) ? [undefined] : [];
  return ports.flatMap((port) => {
    const number = findPort(pod, port);
    const { name, protocol = 'TCP', appProtocol } = port;
    if (number === undefined) return [];
    return [{ ...(name && { name }), port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

const addressId = ({ ip, targetRef }: EndpointAddress): string => `${ip} ${targetRef?.uid ?? ''}`;
const byAddress = (a: Entry, b: Entry): number => (addressId(a.address) < addressId(b.address) ? -1 : 1);

export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const byPort = new Map<string, { port: EndpointPort | undefined; entries: Map<string, Entry> }>();
  for (const pod of pods) {
    const entry = entryOf(service, pod);
    if (!entry) continue;
    for (const port of portsOf(service, pod)) {
      const key = sortedJson(port ?? {});
      const group = byPort.get(key) ?? { port, entries: new Map<string, Entry>() };
      group.entries.set(addressId(entry.address), entry);
      byPort.set(key, group);
    }
  }
  const merged = new Map<string, { ports: EndpointPort[]; entries: Entry[] }>();
  for (const { port, entries } of byPort.values()) {
    const sorted = [...entries.values()].sort(byAddress);
    const key = sorted.map(({ address, ready }) => `${addressId(address)} ${ready}`).join();
    const group = merged.get(key) ?? { ports: [], entries: sorted };
    if (port) group.ports.push(port);
    merged.set(key, group);
  }
  return [...merged.values()].map(subset);
}

function subset({ ports, entries }: { ports: EndpointPort[]; entries: Entry[] }): EndpointSubset {
  const pick = (wanted: boolean): EndpointAddress[] =>
    entries.filter(({ ready }) => ready === wanted).map(({ address }) => address);
  const [addresses, notReadyAddresses] = [pick(true), pick(false)];
  return {
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ...(ports.length > 0 && { ports }),
  };
}

/** The most addresses that one Endpoints object has. */
export const addressesMax = 1000;

const count = (subsets: readonly EndpointSubset[], kind: 'addresses' | 'notReadyAddresses'): number =>
  subsets.reduce((total, one) => total + (one[kind]?.length ?? 0), 0);

/** The subsets cut to `addressesMax` addresses: ready ones stay first, and each subset loses its share. Undefined where nothing had to go. */
export function truncated(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const ready = count(subsets, 'addresses');
  const notReady = count(subsets, 'notReadyAddresses');
  if (ready + notReady <= addressesMax) return undefined;
  const kind = ready > addressesMax ? 'addresses' : 'notReadyAddresses';
  const [total, room] = kind === 'addresses' ? [ready, addressesMax] : [notReady, addressesMax - ready];
  let left = room;
  return subsets.map(({ addresses, notReadyAddresses, ports }) => {
    const list = (kind === 'addresses' ? addresses : notReadyAddresses) ?? [];
    const kept = list.slice(0, Math.min(left, Math.ceil((list.length / total) * room)));
    left -= kept.length;
    const part = kind === 'addresses' ? { addresses: kept } : { ...(addresses && { addresses }), notReadyAddresses: kept };
    return { ...part, ...(ports && { ports }) };
  });
}
