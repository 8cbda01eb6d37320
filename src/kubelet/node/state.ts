// What is known so far of this node, in one place. It is made before everything else; the parts that learn something write it, and the others read
// it.
import type { Node } from '#api/core/v1';
import type { Clock } from '#utils';
import { isSpecific } from './node-ip.ts';

const versionOf = (node: Node | undefined): number => Number(node?.metadata.resourceVersion ?? 0);

/** The resources that the node is short of (conditions MemoryPressure, DiskPressure and PIDPressure). */
export interface Pressure {
  memory: boolean;
  disk: boolean;
  pid: boolean;
}

export class NodeState {
  pressure: Pressure = { memory: false, disk: false, pid: false };
  /** Why pods cannot have a network yet; undefined when they can. */
  networkError: string | undefined;
  /** Unique names of volumes that are mounted here, or about to be: they must not be detached. */
  readonly volumesInUse = new Set<string>();
  readonly #watchers = new Set<() => void>();
  readonly #configured: readonly string[];
  readonly #podIPs = new Map<string, readonly string[]>();
  #node: Node | undefined;
  #report: () => Promise<void> = () => Promise.resolve();

  /** `nodeIPs`: `--node-ip`; `ownIPs`: what the machine itself says its addresses are. */
  constructor({ nodeIPs, ownIPs }: { nodeIPs: readonly string[]; ownIPs: readonly string[] }) {
    this.#configured = isSpecific(nodeIPs[0]) ? nodeIPs : ownIPs;
  }

  /** The newest Node that was seen; undefined before the node is registered. */
  get node(): Node | undefined {
    return this.#node;
  }
  learnNode(node: Node): void {
    const another = node.metadata.uid !== this.#node?.metadata.uid;
    if (!another && versionOf(node) < versionOf(this.#node)) return;
    this.#node = node;
    for (const watcher of this.#watchers) watcher();
  }
  /** Whether the Node became so within `timeoutMs`. */
  untilNode(holds: (node: Node | undefined) => boolean, clock: Clock, timeoutMs: number): Promise<boolean> {
    if (holds(this.#node)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (result: boolean): void => {
        this.#watchers.delete(look);
        timer.cancel();
        resolve(result);
      };
      const look = (): void => {
        if (holds(this.#node)) finish(true);
      };
      const timer = clock.setTimer(timeoutMs, () => finish(false));
      this.#watchers.add(look);
    });
  }
  /** Brings the Node's status up to date with what is known here, at once. */
  report(): Promise<void> {
    return this.#report();
  }
  /** Says what `report` does: the part that writes the Node's status comes later than those who know something for it. */
  reportBy(report: () => Promise<void>): void {
    this.#report = report;
  }

  /** What pods may have of the node together. */
  get allocatable(): Readonly<Record<string, string>> {
    return this.#node?.status?.allocatable ?? {};
  }
  /** Addresses of the node: as the API has them (a cloud may know better), else as configured. */
  hostIPs(): readonly string[] {
    const addresses = this.#node?.status?.addresses ?? [];
    const of = (type: string): string[] => addresses.filter((address) => address.type === type).map(({ address }) => address);
    return [of('InternalIP'), of('ExternalIP')].find((ips) => ips.length > 0) ?? this.#configured;
  }

  /** Addresses of a pod as last reported. */
  podIPs(uid: string): readonly string[] {
    return this.#podIPs.get(uid) ?? [];
  }
  learnPodIPs(uid: string, ips: readonly string[]): void {
    this.#podIPs.set(uid, ips);
  }
  forgetPod(uid: string): void {
    this.#podIPs.delete(uid);
  }
}
