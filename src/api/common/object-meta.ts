// Status doors that leave the whole metadata alone (k8s.io/apimachinery/pkg/apis/meta/v1, ResetObjectMetaForStatus).
import type { KubeObject, ObjectMeta } from '#apimachinery/meta';
import type { WriteStrategy } from '../kind.ts';
import { keep } from './strategy.ts';

/** What the metadata of an object inside another object may not have, in the order of upstream's struct. */
export const unsettableInTemplates = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const satisfies readonly (keyof ObjectMeta)[];

const kept: readonly (keyof ObjectMeta)[] = [
  'deletionTimestamp',
  'generation',
  'selfLink',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
];

/** Everything a client could set in the metadata stays as it was. */
export function keepObjectMeta(draft: KubeObject, old: KubeObject): void {
  for (const field of kept) keep(draft.metadata, old.metadata, field);
}

/** A status door through which spec and metadata stay. */
export function bareStatusDoor<T extends KubeObject & { spec?: unknown }>(
  rules: Omit<WriteStrategy<T>, 'prepareForUpdate'> = {},
): WriteStrategy<T> {
  return {
    resetFields: [['metadata'], ['spec']],
    ...rules,
    prepareForUpdate(draft, old) {
      keep(draft, old, 'spec');
      keepObjectMeta(draft, old);
    },
  };
}
