// What a write of a service takes and gives back: cluster IPs, node ports, the health check port
// (pkg/registry/core/service/storage/alloc.go).
import type { Service, ServicePort, ServiceSpec } from '#api/core/v1';
import { internalError, StatusError } from '#apimachinery/errors';
import { invalid, root } from '#apimachinery/field';
import type { IpFamily } from './addresses.ts';
import { isSettled, refuse, same } from './cluster-ip-rules.ts';
import { type IpAllocator, IpAllocationError } from './ip-allocator.ts';
import { PortAllocationError, type PortOperation } from './port-allocator.ts';

const ipsPath = root('spec', 'clusterIPs');

export const needsClusterIp = ({ type }: ServiceSpec): boolean => type !== 'ExternalName';
const isHeadless = ({ clusterIPs }: ServiceSpec): boolean => clusterIPs?.[0] === 'None';
const allocatesPorts = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
const hasPorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';
export const needsHealthPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

/** Takes an address for each wanted family: the one given, or any for ''. Gives all back when one cannot be had. */
async function takeIps(
  allocator: IpAllocator,
  service: Service,
  wanted: readonly { family: IpFamily; ip: string }[],
  dryRun: boolean,
): Promise<string[]> {
  const name = { namespace: service.metadata.namespace ?? '', name: service.metadata.name ?? '' };
  const taken: string[] = [];
  try {
    for (const { family, ip } of wanted) {
      if (ip === '') taken.push(await allocator.allocateNext(family, name, dryRun));
      else {
        await allocator.allocate(ip, family, name, dryRun);
        taken.push(ip);
      }
    }
    return taken;
  } catch (error) {
    if (!dryRun) for (const ip of taken) await allocator.release(ip);
    // The claim of an address may be refused, too, as for a Service without a name.
    if (!(error instanceof IpAllocationError || error instanceof StatusError)) throw error;
    const asked = wanted[taken.length]?.ip ?? '';
    if (error instanceof IpAllocationError && error.full)
      throw internalError(`failed to allocate a serviceIP for Service "${name.name}": ${error.message}`);
    const what = asked === '' ? 'failed to allocate IP' : `failed to allocate IP ${asked}`;
    throw refuse(service, [
      invalid(ipsPath, service.spec?.clusterIPs ?? [service.spec?.clusterIP ?? ''], `${what}: ${error.message}`),
    ]);
  }
}

async function takeAll(allocator: IpAllocator, service: Service, spec: ServiceSpec, dryRun: boolean): Promise<string[]> {
  if (!needsClusterIp(spec) || isHeadless(spec)) return [];
  const families = (spec.ipFamilies ?? []) as IpFamily[];
  const wanted = families.map((family, i) => ({ family, ip: spec.clusterIPs?.[i] ?? '' }));
  const taken = await takeIps(allocator, service, wanted, dryRun);
  spec.clusterIPs = taken;
  if (taken[0] !== undefined) spec.clusterIP = taken[0];
  return taken;
}

export interface IpChange {
  taken: string[];
  released: string[];
}

/** Allocates the cluster addresses of a new Service. */
export const ipsOnCreate = async (allocator: IpAllocator, service: Service, dryRun: boolean): Promise<IpChange> => ({
  taken: service.spec ? await takeAll(allocator, service, service.spec, dryRun) : [],
  released: [],
});

/** Addresses of a changed one: only a change of type or of the number of families touches them. */
export async function ipsOnUpdate(allocator: IpAllocator, service: Service, old: Service, dryRun: boolean): Promise<IpChange> {
  const { spec } = service;
  const before = old.spec;
  const none = { taken: [], released: [] };
  if (!spec || !before || isSettled(spec, before)) return none;
  if (!needsClusterIp(before)) return needsClusterIp(spec) ? ipsOnCreate(allocator, service, dryRun) : none;
  if (isHeadless(before)) return none;
  if (!needsClusterIp(spec)) return { taken: [], released: [...(before.clusterIPs ?? [])] };
  const families = (spec.ipFamilies ?? []) as IpFamily[];
  const count = before.ipFamilies?.length ?? 0;
  if (count === 1 && families.length === 2) {
    const wanted = [{ family: families[1] as IpFamily, ip: spec.clusterIPs?.[1] ?? '' }];
    const taken = await takeIps(allocator, service, wanted, dryRun);
    spec.clusterIPs = [...(spec.clusterIPs ?? []).slice(0, 1), ...taken];
    return { taken, released: [] };
  }
  if (count === 2 && families.length === 1) return { taken: [], released: (before.clusterIPs ?? []).slice(1, 2) };
  return none;
}

const portPath = (i: number) => root('spec', 'ports').index(i).child('nodePort');

function takePort(service: Service, operation: PortOperation, i: number, port: number): void {
  try {
    operation.allocate(port);
  } catch (error) {
    if (error instanceof PortAllocationError) throw refuse(service, [invalid(portPath(i), port, error.message)]);
    throw error;
  }
}

function nextPort(operation: PortOperation): number {
  try {
    return operation.allocateNext();
  } catch (error) {
    if (error instanceof PortAllocationError) throw internalError(`failed to allocate a nodePort: ${error.message}`);
    throw error;
  }
}

/** Ports of a new service: entries with the same port number share one node port. */
function newPorts(service: Service, spec: ServiceSpec, operation: PortOperation): void {
  const ports = spec.ports ?? [];
  const shared = new Map<number, number>();
  const requested = (port: number): number => ports.find((entry) => entry.port === port && entry.nodePort)?.nodePort ?? 0;
  for (const [i, entry] of ports.entries()) {
    if (!entry.nodePort && !allocatesPorts(spec)) continue;
    const known = shared.get(entry.port);
    if (known !== undefined) {
      if (!entry.nodePort) entry.nodePort = known;
      else if (entry.nodePort !== known) takePort(service, operation, i, entry.nodePort);
      continue;
    }
    const wanted = requested(entry.port);
    if (wanted !== 0) takePort(service, operation, i, wanted);
    entry.nodePort = wanted !== 0 ? wanted : nextPort(operation);
    shared.set(entry.port, entry.nodePort);
  }
}

function changedPorts(service: Service, spec: ServiceSpec, old: ServiceSpec, operation: PortOperation): void {
  const before = new Set((old.ports ?? []).map(({ nodePort }) => nodePort));
  const taken = new Set<number>();
  for (const [i, entry] of (spec.ports ?? []).entries()) {
    if (!entry.nodePort && !allocatesPorts(spec)) continue;
    if (!entry.nodePort) entry.nodePort = nextPort(operation);
    else if (!before.has(entry.nodePort) && !taken.has(entry.nodePort)) takePort(service, operation, i, entry.nodePort);
    taken.add(entry.nodePort);
  }
}

function takeHealthPort(spec: ServiceSpec, operation: PortOperation): void {
  const wanted = spec.healthCheckNodePort ?? 0;
  try {
    if (wanted !== 0) operation.allocate(wanted);
    else spec.healthCheckNodePort = operation.allocateNext();
  } catch (error) {
    if (!(error instanceof PortAllocationError)) throw error;
    const what =
      wanted !== 0
        ? `failed to allocate requested HealthCheck NodePort ${wanted}`
        : 'failed to allocate a HealthCheck NodePort 0';
    throw internalError(`${what}: ${error.message}`);
  }
}

/** Whether a Service of this type has node ports. */
export const usesNodePorts = (spec: ServiceSpec): boolean => hasPorts(spec) || needsHealthPort(spec);

/** Takes the node ports a write needs; what the old service held and the new one does not is free once it is committed. */
export function takePorts(service: Service, old: ServiceSpec | undefined, operation: PortOperation): void {
  const { spec } = service;
  if (!spec) return;
  if (hasPorts(spec)) {
    if (old) changedPorts(service, spec, old, operation);
    else newPorts(service, spec, operation);
  }
  if (needsHealthPort(spec) && !(old && needsHealthPort(old))) takeHealthPort(spec, operation);
}

const portNumbers = (ports: readonly ServicePort[] | undefined): Set<number> =>
  new Set((ports ?? []).flatMap(({ nodePort }) => nodePort || []));

/** An update that leaves out what was allocated keeps it. */
export function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = [...old.clusterIPs];
  }
  if (allocatesPorts(old) && allocatesPorts(spec)) {
    const now = portNumbers(spec.ports);
    const used = new Set([...portNumbers(old.ports)].filter((port) => now.has(port)));
    const byName = new Map((old.ports ?? []).map(({ name = '', nodePort = 0 }) => [name, nodePort]));
    for (const entry of spec.ports ?? []) {
      const before = byName.get(entry.name ?? '');
      if (!entry.nodePort && before && !used.has(before)) entry.nodePort = before;
    }
  }
  if (needsHealthPort(old) && needsHealthPort(spec) && !spec.healthCheckNodePort && old.healthCheckNodePort) {
    spec.healthCheckNodePort = old.healthCheckNodePort;
  }
}

/** Makes clusterIPs follow a changed clusterIP. */
export function normalizeClusterIps(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  if (!old) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  if (old.clusterIPs?.length && !spec.clusterIPs?.length && old.clusterIP === spec.clusterIP)
    spec.clusterIPs = [...old.clusterIPs];
  if (old.clusterIP === spec.clusterIP || !same(old.clusterIPs, spec.clusterIPs)) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}
