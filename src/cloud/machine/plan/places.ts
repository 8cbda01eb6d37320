// Where interfaces' addresses live: instances, and namespaces of unattached interfaces. What programs add to them is theirs.
import { gatewayOf, prefixLength } from './ipv4.ts';
import { routeEntry } from './routes.ts';
import type { MachinePlan, NamespacePlan } from './types.ts';
import type { PlacedInterface } from './view.ts';

function placePlan(interfaces: readonly PlacedInterface[]): NamespacePlan {
  const first = interfaces.find(({ place }) => place.link === 'eth0');
  return {
    order: 2,
    links: new Map(),
    addresses: new Set(
      interfaces.map(({ item, subnet, place }) => `${place.link} ${item.privateAddress}/${prefixLength(subnet.cidr)}`),
    ),
    sysctls: new Map(),
    routes: new Map(first ? [routeEntry({ destination: 'default', via: gatewayOf(first.subnet.cidr), link: 'eth0' })] : []),
    rules: new Set(),
    tables: new Map(),
  };
}

/** Plans the namespaces of instances. Those of `netnses` are there even without an interface. */
export function placePlans(netnses: readonly string[], interfaces: Iterable<PlacedInterface>): MachinePlan {
  const places = new Map<string, PlacedInterface[]>(netnses.map((name) => [name, []]));
  for (const entry of interfaces) {
    const list = places.get(entry.place.netns);
    if (list) list.push(entry);
    else places.set(entry.place.netns, [entry]);
  }
  return new Map([...places].map(([netns, entries]) => [netns, placePlan(entries)]));
}
