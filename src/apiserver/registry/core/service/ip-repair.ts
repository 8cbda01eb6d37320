// Compares cluster IPs that are claimed with the Services that have them, as upstream's repair loop does (pkg/registry/core/service/ipallocator/
// controller, repairip.go). A server that ended between two writes, or whose store did not answer, leaves a claim that no Service stands behind;
// it is let go. A claim that somebody has deleted under its Service is made again. Nothing is polled: changes say when to look.
import type { Service } from '#api/core/v1';
import type { IPAddress } from '#api/networking/v1';
import { isAlreadyExists, isConflict, isNotFound } from '#apimachinery/errors';
import type { Clock, Logger, Timer } from '#utils';
import { ipClaimGraceMs, ipClaimRestoreMs } from '../../../limits.ts';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import type { StartHook } from '../../start-hook.ts';
import type { ClusterWriter } from '../../writer.ts';
import { claimOf, claimGroup as group, claimLabels } from './ip-allocator.ts';

interface RepairDeps {
  clock: Clock;
  logger: Logger;
}

const isOurs = ({ metadata }: IPAddress): boolean =>
  metadata.labels?.[claimLabels.managedBy] === claimLabels.allocator && metadata.deletionTimestamp === undefined;

const addressesOf = (service: Service | undefined): string[] =>
  (service?.spec?.clusterIPs ?? []).filter((address) => address !== '' && address !== 'None');

class IpRepair {
  readonly #cluster: ReadOnlyCluster;
  readonly #writer: ClusterWriter;
  readonly #deps: RepairDeps;
  /** One look at most waits for each address. */
  readonly #looks = new Map<string, Timer>();

  constructor(cluster: ReadOnlyCluster, writer: ClusterWriter, deps: RepairDeps) {
    this.#cluster = cluster;
    this.#writer = writer;
    this.#deps = deps;
  }

  start(signal: AbortSignal): void {
    const stops = [
      this.#cluster.onChange<IPAddress>(group, 'ipaddresses', (now, before) => this.#claimChanged(now, before)),
      this.#cluster.onChange<Service>('', 'services', (now, before) => {
        const kept = new Set(addressesOf(now));
        for (const address of addressesOf(before)) if (!kept.has(address)) this.#later(address, ipClaimGraceMs, this.#release);
      }),
    ];
    const stop = (): void => {
      for (const end of stops) end();
      for (const timer of this.#looks.values()) timer.cancel();
      this.#looks.clear();
    };
    signal.addEventListener('abort', stop, { once: true });
    for (const claim of this.#cluster.list<IPAddress>(group, 'ipaddresses')) this.#claimChanged(claim, undefined);
    for (const service of this.#cluster.list<Service>('', 'services'))
      for (const address of addressesOf(service)) if (!this.#claim(address)) this.#restoreLater(address, service);
  }

  #claim(address: string): IPAddress | undefined {
    return this.#cluster.get<IPAddress>(group, 'ipaddresses', '', address);
  }

  #claimChanged(now: IPAddress | undefined, before: IPAddress | undefined): void {
    if (!now) {
      const service = before && this.#holder(before);
      if (service) this.#restoreLater(before.metadata.name ?? '', service);
      return;
    }
    if (!isOurs(now) || this.#holder(now)) return;
    const { name = '', creationTimestamp } = now.metadata;
    const age = Math.max(0, this.#deps.clock.now() - Date.parse(creationTimestamp ?? '') || 0);
    this.#later(name, Math.max(ipClaimGraceMs - age, ipClaimRestoreMs), this.#release);
  }

  /** The Service that a claim names, if that one has the address. */
  #holder({ metadata, spec }: IPAddress): Service | undefined {
    const { namespace = '', name = '' } = spec?.parentRef ?? {};
    const service = this.#cluster.get<Service>('', 'services', namespace, name);
    return addressesOf(service).includes(metadata.name ?? '') ? service : undefined;
  }

  #restoreLater(address: string, { metadata }: Service): void {
    const { namespace = '', name = '' } = metadata;
    this.#later(address, ipClaimRestoreMs, (free) => this.#restore(free, namespace, name));
  }

  #later(address: string, afterMs: number, repair: (address: string) => Promise<void>): void {
    this.#looks.get(address)?.cancel();
    const { clock, logger } = this.#deps;
    const look = (): void => {
      this.#looks.delete(address);
      repair(address).catch((error: unknown) => {
        logger.error('cluster IP was not repaired', { address, err: String(error) });
        this.#later(address, ipClaimGraceMs, repair);
      });
    };
    this.#looks.set(address, clock.setTimer(afterMs, look));
  }

  readonly #release = async (address: string): Promise<void> => {
    const claim = this.#claim(address);
    if (!claim || !isOurs(claim) || this.#holder(claim)) return;
    const { uid } = claim.metadata;
    try {
      await this.#writer.delete(group, 'ipaddresses', '', address, { deleteOptions: { preconditions: { uid } } });
      const { namespace = '', name = '' } = claim.spec?.parentRef ?? {};
      this.#deps.logger.warn('a cluster IP that no Service has is free again', { address, claimedFor: `${namespace}/${name}` });
    } catch (error) {
      // Another server came first.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  };

  async #restore(address: string, namespace: string, name: string): Promise<void> {
    const service = this.#cluster.get<Service>('', 'services', namespace, name);
    if (this.#claim(address) || service?.metadata.deletionTimestamp !== undefined) return;
    if (!addressesOf(service).includes(address)) return;
    try {
      await this.#writer.create(group, 'ipaddresses', claimOf(address, { namespace, name }), { manager: 'kube-apiserver' });
      this.#deps.logger.warn('a cluster IP whose claim was gone is claimed again', { address, service: `${namespace}/${name}` });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

/** Runs as long as the server does; it writes nothing while all claims have their Services. */
export const ipRepairHook = (deps: RepairDeps): StartHook => ({
  name: 'start-service-ip-repair-controllers',
  async run(cluster, writer, signal) {
    new IpRepair(cluster, writer, deps).start(signal);
  },
});
