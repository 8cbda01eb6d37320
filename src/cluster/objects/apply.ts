// Objects that the assembly itself keeps in the cluster, by server-side apply, so that a second start changes nothing.
import { parseApiVersion, type KubeObject } from '#apimachinery/meta';
import type { KubeClient } from '#client';

export const fieldManager = 'sagong';

export type Applied = KubeObject & { apiVersion: string; kind: string } & Record<string, unknown>;

export async function applyObjects(client: KubeClient, objects: readonly { resource: string; object: Applied }[]): Promise<void> {
  for (const { resource, object } of objects) {
    const { group, version } = parseApiVersion(object.apiVersion);
    await client
      .resource({ group, version, resource }, object.metadata.namespace)
      .patch(object.metadata.name ?? '', 'application/apply-patch+yaml', object, { fieldManager, force: true });
  }
}
