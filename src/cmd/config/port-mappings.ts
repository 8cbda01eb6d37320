// Ports of this machine that lead to ports of a node, in the words of kind's configuration (extraPortMappings). Pure.

import type { PortMapping } from '#cluster/start';

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const loopback = '127.0.0.1';
const known = ['containerPort', 'hostPort', 'listenAddress', 'protocol'];

const wrong = (path: string, what: string): never => {
  throw new Error(`--config: ${path} ${what}`);
};
const portOf = (value: unknown, path: string): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535 ? value : wrong(path, 'must be a port');

/** Reads the port mappings of one node. They listen at loopback only, unless an address is named. Throws a sentence for one that cannot be made. */
export function portMappings(value: unknown, path: string): PortMapping[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return wrong(path, 'must be a list');
  return value.map((mapping: unknown, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(mapping)) return wrong(at, 'must be an object');
    const unknown = Object.keys(mapping).find((name) => !known.includes(name));
    if (unknown !== undefined) wrong(`${at}.${unknown}`, 'is no field of a port mapping');
    const { listenAddress = loopback, protocol = 'TCP', containerPort, hostPort } = mapping;
    if (protocol !== 'TCP')
      wrong(`${at}.protocol: ${String(protocol)}`, 'has no counterpart: only TCP is mapped; use a Service of type LoadBalancer');
    if (typeof listenAddress !== 'string' || !/^[0-9.]+$/.test(listenAddress))
      return wrong(`${at}.listenAddress`, 'must be an IPv4 address');
    return {
      node: 0,
      listenAddress,
      hostPort: portOf(hostPort, `${at}.hostPort`),
      containerPort: portOf(containerPort, `${at}.containerPort`),
    };
  });
}
