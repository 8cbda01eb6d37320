// The subsets of an Endpoints object: addresses grouped by the ports they have in common (pkg/controller/endpoint, RepackSubsets).
import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service } from '#api/core/v1';
import {
  addressFamily,
  type AddressFamily,
  hostnameUnder,
  isHeadlessService,
  isPodAddressable,
  podAddresses,
  type ServedPort,
  servedPorts,
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

/** Ports as they stand in the object; one empty place for a headless Service without ports. */
function portsOf(service: Service, served: readonly ServedPort[]): (EndpointPort | undefined)[] {
  if ((service.spec?.ports ?? []).length === 0) return isHeadlessService(service) ? [undefined] : [];
  return served.map(({ port: { name, protocol = 'TCP', appProtocol }, number }) => ({
    ...(name && { name }),
    port: number,
    protocol,
    ...(appProtocol !== undefined && { appProtocol }),
  }));
}

const addressId = ({ ip, targetRef }: EndpointAddress): string => `${ip} ${targetRef?.uid ?? ''}`;
const byAddress = (a: Entry, b: Entry): number => (addressId(a.address) < addressId(b.address) ? -1 : 1);

/** Addresses of pods that serve the same ports, by what tells them apart. */
type Alike = Map<string, Entry>;

/** Pods that serve the same ports are looked at together: there may be thousands of both. */
export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const served = servedPorts(service);
  const alike = new Map<readonly ServedPort[], Alike>();
  for (const pod of pods) {
    const entry = entryOf(service, pod);
    if (!entry) continue;
    const list = served(pod);
    const group = alike.get(list) ?? new Map<string, Entry>();
    alike.set(list, group.set(addressId(entry.address), entry));
  }
  const byPort = new Map<string, { port: EndpointPort | undefined; of: Map<number, Alike> }>();
  [...alike].forEach(([list, entries], at) => {
    for (const port of portsOf(service, list)) {
      const key = sortedJson(port ?? {});
      const group = byPort.get(key) ?? { port, of: new Map<number, Alike>() };
      group.of.set(at, entries);
      byPort.set(key, group);
    }
  });
  const merged = new Map<string, { ports: EndpointPort[]; of: Iterable<Alike> }>();
  for (const { port, of } of byPort.values()) {
    const key = [...of.keys()].join();
    const group = merged.get(key) ?? { ports: [], of: of.values() };
    if (port) group.ports.push(port);
    merged.set(key, group);
  }
  return [...merged.values()].map(({ ports, of }) => {
    const entries = new Map([...of].flatMap((one) => [...one]));
    return subset({ ports, entries: [...entries.values()].sort(byAddress) });
  });
}

function subset({ ports, entries }: { ports: EndpointPort[]; entries: readonly Entry[] }): EndpointSubset {
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
