// Joins the writes of services with the allocators (pkg/registry/core/service/storage).
import type { Service } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import { asKind } from '#apimachinery/meta';
import type { Logger, Rng } from '#utils';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import type { FinishWrite, HookedWrite, StorageHook } from '../../generic/storage-hook.ts';
import type { ClusterWriter } from '../../writer.ts';
import {
  type IpChange,
  ipsOnCreate,
  ipsOnUpdate,
  keepAllocated,
  needsClusterIp,
  normalizeClusterIps,
  takePorts,
  usesNodePorts,
} from './allocation.ts';
import { completeFamilies } from './cluster-ip-rules.ts';
import { IpAllocator } from './ip-allocator.ts';
import { PortAllocator, type PortOperation, type PortRange, portsOf, type SharedStore } from './port-allocator.ts';

export interface ServiceAllocationOptions {
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  rng: Rng;
  logger: Logger;
  /** `--service-cluster-ip-range`, one or two; the first gives the default family. */
  serviceCidrs: readonly string[];
  /** `--service-node-port-range`, default 30000-32767. */
  nodePorts?: PortRange;
  /** Absent: nobody else writes to the store. */
  shared?: SharedStore | undefined;
}

export const defaultNodePorts: PortRange = { first: 30000, last: 32767 };

/** Gives back what a service had. What cannot be given back stays taken until a repair finds it without a service. */
async function orLog(logger: Logger, failure: string, about: object, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    logger.error(failure, { ...about, error: String(error) });
  }
}

/** The hook of services. `stop` ends its subscription. */
export function serviceHook(options: ServiceAllocationOptions): StorageHook & { stop(): void } {
  const { cluster, writer, rng, logger } = options;
  const ips = new IpAllocator(cluster, writer, rng, options.serviceCidrs);
  const ports = new PortAllocator(cluster, rng, options.nodePorts ?? defaultNodePorts, options.shared);
  const { families } = ips;

  const release = async (addresses: readonly string[]): Promise<void> => {
    for (const address of addresses)
      await orLog(logger, 'failed to release a cluster IP', { address }, () => ips.release(address));
  };
  const releasePorts = (numbers: readonly number[]): Promise<void> =>
    orLog(logger, 'failed to release node ports', { ports: numbers.join() }, () => ports.release(numbers));
  const finisher =
    (change: IpChange, operation: PortOperation, dropped: readonly number[], dryRun: boolean): FinishWrite =>
    async (committed) => {
      const taken = [...operation.taken];
      operation.end();
      if (dryRun) return;
      await release(committed ? change.released : change.taken);
      await releasePorts(committed ? dropped : taken);
    };
  const begin = async (service: Service, old: Service | undefined, { dryRun, target: { subresource } }: HookedWrite) => {
    const { spec } = service;
    if (subresource !== '' || !spec) return undefined;
    if (old?.spec) keepAllocated(spec, old.spec);
    normalizeClusterIps(spec, old?.spec);
    completeFamilies(service, old?.spec, families);
    const asked = structuredClone(spec);
    const choose = (operation: PortOperation): void => {
      service.spec = structuredClone(asked);
      takePorts(service, old?.spec, operation);
    };
    const operation = await ports.begin(choose, dryRun || !usesNodePorts(spec));
    const taken = [...operation.taken];
    try {
      const change = old ? await ipsOnUpdate(ips, service, old, dryRun) : await ipsOnCreate(ips, service, dryRun);
      const kept = new Set(portsOf(service));
      return finisher(change, operation, old ? portsOf(old).filter((port) => !kept.has(port)) : [], dryRun);
    } catch (error) {
      operation.end();
      if (!dryRun) await releasePorts(taken);
      throw error;
    }
  };
  return {
    group: '',
    resource: 'services',
    beginCreate: (draft, context) => begin(asKind<Service>(draft), undefined, context),
    beginUpdate: (draft, old, context) => begin(asKind<Service>(draft), asKind<Service>(old), context),
    async afterDelete(object, { dryRun }) {
      if (dryRun) return;
      const { metadata, spec } = asKind<Service>(object);
      await releasePorts(portsOf(asKind<Service>(object)));
      if (spec && needsClusterIp(spec)) await release((spec.clusterIPs ?? []).filter((ip) => ip !== 'None'));
      try {
        await writer.delete('', 'endpoints', metadata.namespace ?? '', metadata.name ?? '');
      } catch (error) {
        if (!isNotFound(error)) logger.error('failed to delete endpoints of a service', { error: String(error) });
      }
    },
    stop: () => ports.stop(),
  };
}
