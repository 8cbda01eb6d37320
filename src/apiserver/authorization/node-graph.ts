// What is related to which node (plugin/pkg/auth/authorizer/node, graph): kept as counts for each node, so that a question is one look-up
// and a pod that changes only its status costs nothing.
import type { PersistentVolume, Pod } from '#api/core/v1';
import type { ResourceSlice } from '#api/resource/v1';
import type { VolumeAttachment } from '#api/storage/v1';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { podReferences, type Reference, reference, volumeSecretReferences } from './pod-references.ts';

export class NodeGraph {
  readonly #cluster: ReadOnlyCluster;
  readonly #nodes = new Map<string, Map<Reference, number>>();
  /** Secrets that volumes need, with the names of the volumes. */
  readonly #volumeSecrets = new Map<Reference, Set<string>>();
  readonly #stops: (() => void)[];

  constructor(cluster: ReadOnlyCluster) {
    this.#cluster = cluster;
    for (const pod of cluster.list<Pod>('', 'pods')) this.#pod(pod, undefined);
    for (const volume of cluster.list<PersistentVolume>('', 'persistentvolumes')) this.#volume(volume, undefined);
    this.#stops = [
      cluster.onChange<Pod>('', 'pods', (now, before) => this.#pod(now, before)),
      cluster.onChange<PersistentVolume>('', 'persistentvolumes', (now, before) => this.#volume(now, before)),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #count(node: string, references: Iterable<Reference>, step: 1 | -1): void {
    const counts = this.#nodes.get(node) ?? new Map<Reference, number>();
    this.#nodes.set(node, counts);
    for (const item of references) {
      const count = (counts.get(item) ?? 0) + step;
      if (count > 0) counts.set(item, count);
      else counts.delete(item);
    }
    if (counts.size === 0) this.#nodes.delete(node);
  }

  #pod(now: Pod | undefined, before: Pod | undefined): void {
    const unchanged =
      now &&
      before &&
      now.spec === before.spec &&
      now.metadata.annotations === before.metadata.annotations &&
      now.status?.resourceClaimStatuses === before.status?.resourceClaimStatuses &&
      now.status?.extendedResourceClaimStatus === before.status?.extendedResourceClaimStatus;
    if (unchanged) return;
    if (now?.spec?.nodeName) this.#count(now.spec.nodeName, podReferences(now), 1);
    if (before?.spec?.nodeName) this.#count(before.spec.nodeName, podReferences(before), -1);
  }

  #volume(now: PersistentVolume | undefined, before: PersistentVolume | undefined): void {
    const name = (now ?? before)?.metadata.name ?? '';
    if (before) {
      for (const secret of volumeSecretReferences(before)) {
        const volumes = this.#volumeSecrets.get(secret);
        volumes?.delete(name);
        if (volumes?.size === 0) this.#volumeSecrets.delete(secret);
      }
    }
    if (!now) return;
    for (const secret of volumeSecretReferences(now)) {
      this.#volumeSecrets.set(secret, (this.#volumeSecrets.get(secret) ?? new Set<string>()).add(name));
    }
  }

  #hasVolume(counts: ReadonlyMap<Reference, number>, name: string): boolean {
    const claim = this.#cluster.get<PersistentVolume>('', 'persistentvolumes', '', name)?.spec?.claimRef;
    return claim !== undefined && counts.has(reference('persistentvolumeclaims', claim.namespace ?? '', claim.name ?? ''));
  }

  /** Whether the node has something to do with the object. */
  relates(node: string, resource: string, namespace: string, name: string): boolean {
    if (resource === 'volumeattachments') {
      return this.#cluster.get<VolumeAttachment>('storage.k8s.io', resource, '', name)?.spec.nodeName === node;
    }
    if (resource === 'resourceslices') {
      return this.#cluster.get<ResourceSlice>('resource.k8s.io', resource, '', name)?.spec.nodeName === node;
    }
    const counts = this.#nodes.get(node);
    if (!counts) return false;
    if (resource === 'persistentvolumes') return this.#hasVolume(counts, name);
    const item = reference(resource, namespace, name);
    if (counts.has(item)) return true;
    if (resource !== 'secrets') return false;
    return [...(this.#volumeSecrets.get(item) ?? [])].some((volume) => this.#hasVolume(counts, volume));
  }
}
