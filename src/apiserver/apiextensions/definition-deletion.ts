// Deleting a CustomResourceDefinition waits until its objects are gone (k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition,
// etcd.go): the first DELETE marks it and sets the finalizer that `serveDefinitions` removes.
import type { KindDefinition } from '#api';
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import type { KubeObject } from '#apimachinery/meta';
import { withCondition } from './conditions.ts';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

const deletion: NonNullable<KindDefinition<CustomResourceDefinition>['deletion']> = {
  ownFinalizers: ({ metadata }) => (metadata.deletionTimestamp === undefined ? [cleanupFinalizer] : []),
  ignoresPropagation: true,
  markTerminating(draft) {
    const { metadata } = draft;
    if (!metadata.finalizers?.includes(cleanupFinalizer))
      metadata.finalizers = [...(metadata.finalizers ?? []), cleanupFinalizer];
    draft.status = withCondition(draft.status, {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: metadata.deletionTimestamp ?? '',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    });
  },
};

/** The definition of definitions with the deletion that serving them needs; others as they are. */
export function withCleanUp(definition: KindDefinition<KubeObject>): KindDefinition<KubeObject> {
  const isDefinition = definition.group === 'apiextensions.k8s.io' && definition.kind === 'CustomResourceDefinition';
  return isDefinition
    ? { ...definition, deletion: { ...definition.deletion, ...(deletion as unknown as NonNullable<KindDefinition['deletion']>) } }
    : definition;
}
