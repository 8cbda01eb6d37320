// The ports of a Service in the forms that forwarding rules and firewalls want. Pure.
import type { Service } from 'sagong/cloud-provider';

/** Neighbouring ports as ranges, for a firewall rule takes no more than 100 of them: `80`, `8000-8010`. */
export function portRanges(ports: readonly number[]): string[] {
  const ranges: [number, number][] = [];
  for (const port of [...new Set(ports)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && port === last[1] + 1) last[1] = port;
    else ranges.push([port, port]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`));
}

/** The range from the lowest to the highest port. An external forwarding rule has one range; the firewall closes what lies between. */
export const spannedRange = (ports: readonly number[]): string => `${Math.min(...ports)}-${Math.max(...ports)}`;

export const hasMixedProtocols = ({ spec }: Service): boolean =>
  new Set((spec?.ports ?? []).map(({ protocol = 'TCP' }) => protocol)).size > 1;

export interface ServicePorts {
  protocol: 'TCP' | 'UDP';
  numbers: number[];
}

/** Throws for a Service without ports, and for protocols that these load balancers do not carry. */
export function servicePorts({ spec }: Service): ServicePorts {
  const [first] = spec?.ports ?? [];
  if (!first) throw new Error('no ports specified for GCE load balancer');
  const { protocol = 'TCP' } = first;
  if (protocol !== 'TCP' && protocol !== 'UDP') throw new Error(`invalid protocol ${protocol}, only TCP and UDP are supported`);
  return { protocol, numbers: (spec?.ports ?? []).map(({ port }) => port) };
}
