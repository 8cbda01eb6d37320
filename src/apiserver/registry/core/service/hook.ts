// Joins the writes of services with the allocators (pkg/registry/core/service/storage).
import type { Service } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
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
} from './allocation.ts';
import { completeFamilies } from './cluster-ip-rules.ts';
import { IpAllocator } from './ip-allocator.ts';
import { PortAllocator, type PortOperation, type PortRange } from './port-allocator.ts';

export interface ServiceAllocationOptions {
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  rng: Rng;
  logger: Logger;
  /** `--service-cluster-ip-range`, one or two; the first gives the default family. */
  serviceCidrs: readonly string[];
  /** `--service-node-port-range`, default 30000-32767. */
  nodePorts?: PortRange;
}

export const defaultNodePorts: PortRange = { first: 30000, last: 32767 };

/** The hook of services. `stop` ends its subscription. */
export function serviceHook(options: ServiceAllocationOptions): StorageHook & { stop(): void } {
  const { cluster, writer, rng, logger } = options;
  const ips = new IpAllocator(cluster, writer, rng, options.serviceCidrs);
  const ports = new PortAllocator(cluster, rng, options.nodePorts ?? defaultNodePorts);
  const { families } = ips;

  const release = async (addresses: readonly string[]): Promise<void> => {
    for (const address of addresses) {
      try {
        await ips.release(address);
      } catch (error) {
        // The address stays taken until the repair loop finds it without a service.
        logger.error('failed to release a cluster IP', { address, error: String(error) });
      }
    }
  };
  const finisher =
    (change: IpChange, operation: PortOperation, dryRun: boolean): FinishWrite =>
    async (committed) => {
      operation.end();
      if (!dryRun) await release(committed ? change.released : change.taken);
    };
  const begin = async (service: Service, old: Service | undefined, { dryRun, target: { subresource } }: HookedWrite) => {
    const { spec } = service;
    if (subresource !== '' || !spec) return undefined;
    if (old?.spec) keepAllocated(spec, old.spec);
    normalizeClusterIps(spec, old?.spec);
    completeFamilies(service, old?.spec, families);
    const operation = ports.begin();
    try {
      takePorts(service, old?.spec, operation);
      const change = old ? await ipsOnUpdate(ips, service, old, dryRun) : await ipsOnCreate(ips, service, dryRun);
      return finisher(change, operation, dryRun);
    } catch (error) {
      operation.end();
      throw error;
    }
  };
  return {
    group: '',
    resource: 'services',
    beginCreate: (draft, context) => begin(draft as unknown as Service, undefined, context),
    beginUpdate: (draft, old, context) => begin(draft as unknown as Service, old as unknown as Service, context),
    async afterDelete(object, { dryRun }) {
      if (dryRun) return;
      const { metadata, spec } = object as unknown as Service;
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
