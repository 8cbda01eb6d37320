// What the inner parts of the server read of the cluster.
import type { KubeObject } from '#apimachinery/meta';

/** Reads of the newest committed state, from memory: what authorizers and admission plugins use. Answers are frozen. */
export interface ReadOnlyCluster {
  get<T extends KubeObject>(group: string, resource: string, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(group: string, resource: string, namespace?: string): readonly T[];
  /** Called after every committed change of the resource, with the old and new object (undefined: absent). Returns the way to stop. */
  onChange<T extends KubeObject>(
    group: string,
    resource: string,
    handler: (now: T | undefined, before: T | undefined) => void,
  ): () => void;
}
