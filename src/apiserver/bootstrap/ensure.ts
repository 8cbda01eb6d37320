// Makes a list of objects exist, in one batch: writes are started together so that the store can commit them together.
import { isAlreadyExists, isNotFound } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';

export interface Wanted<T extends KubeObject> {
  group: string;
  resource: string;
  object: T;
}

/**
 * Creates what is absent; what is there becomes `change(current, wanted)` unless that is undefined. Losing a race against another server
 * that does the same is no failure.
 */
export async function ensure<T extends KubeObject>(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  wanted: readonly Wanted<T>[],
  change: (current: T, wanted: T) => T | undefined = () => undefined,
  manager = 'kube-apiserver',
): Promise<void> {
  await Promise.all(
    wanted.map(async ({ group, resource, object }) => {
      const { namespace = '', name = '' } = object.metadata;
      const current = cluster.get<T>(group, resource, namespace, name);
      try {
        if (!current) await writer.create(group, resource, object, { manager });
        else if (change(current, object)) {
          await writer.update<T>(group, resource, namespace, name, (latest) => change(latest, object), { manager });
        }
      } catch (error) {
        if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
      }
    }),
  );
}
