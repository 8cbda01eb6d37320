// Which finalizers a DELETE sets for the garbage collector (k8s.io/apiserver/pkg/registry/generic/registry/store.go).
import type { KubeObject } from '#apimachinery/meta';
import type { DeleteOptions } from './delete-options.ts';
import type { ServedResource } from './types.ts';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

const hasDependents = ({ definition }: ServedResource): boolean => definition.deletion?.defaultPropagation !== 'None';

/** Options win over finalizers that are there already, those over the kind's default. */
function shouldOrphan(resource: ServedResource, object: KubeObject, options: DeleteOptions): boolean {
  if (!hasDependents(resource)) return false;
  if (options.orphanDependents !== undefined) return options.orphanDependents;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Orphan';
  for (const finalizer of object.metadata.finalizers ?? []) {
    if (finalizer === orphan) return true;
    if (finalizer === foreground) return false;
  }
  return resource.definition.deletion?.defaultPropagation === 'Orphan';
}

function shouldWaitForDependents(resource: ServedResource, object: KubeObject, options: DeleteOptions): boolean {
  if (!hasDependents(resource)) return false;
  if (options.orphanDependents !== undefined) return false;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Foreground';
  for (const finalizer of object.metadata.finalizers ?? []) {
    if (finalizer === foreground) return true;
    if (finalizer === orphan) return false;
  }
  return false;
}

/** The finalizers the object is to have; undefined: those it has. */
export function deletionFinalizers(resource: ServedResource, object: KubeObject, options: DeleteOptions): string[] | undefined {
  const before = object.metadata.finalizers ?? [];
  const after = before.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  if (shouldOrphan(resource, object, options)) after.push(orphan);
  if (shouldWaitForDependents(resource, object, options)) after.push(foreground);
  const known = new Set(before);
  const same = before.length === after.length && after.every((finalizer) => known.has(finalizer));
  return same ? undefined : after;
}
