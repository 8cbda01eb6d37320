// What upstream's built-in kinds have in common beyond the registry's rules for the metadata of every object (pkg/apis/core/validation,
// ValidateObjectMeta and ValidateObjectMetaUpdate): a finalizer without a domain must be one Kubernetes knows, and changes of metadata are
// looked at a second time, so that clients see such failures twice.
import { type FieldError, type Path, root } from '#apimachinery/field';
import type { KubeObject, ObjectMeta } from '#apimachinery/meta';
import { validateObjectMetaUpdate } from '#apimachinery/validation';
import type { KindDefinition, WriteStrategy } from '../kind.ts';
import { collect, type Report } from './report.ts';

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

export function validateKubeFinalizer(report: Report, path: Path, name: string): void {
  if (name.includes('/') || standardFinalizers.includes(name)) return;
  report.invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified');
}

function finalizerErrors({ finalizers }: ObjectMeta): FieldError[] {
  if (!finalizers?.length) return [];
  return collect((report) =>
    finalizers.forEach((name, index) => validateKubeFinalizer(report, root('metadata', 'finalizers').index(index), name)),
  );
}

const withFinalizers = <S extends WriteStrategy<KubeObject>>(strategy: S): S => ({
  ...strategy,
  validateUpdate: (object, old, context) => [
    ...validateObjectMetaUpdate(object.metadata, old.metadata, root('metadata')),
    ...finalizerErrors(object.metadata),
    ...(strategy.validateUpdate?.(object, old, context) ?? []),
  ],
});

/** The definition with the rules of all built-in kinds added. */
export function builtin(definition: KindDefinition<KubeObject>): KindDefinition<KubeObject> {
  const doors =
    definition.doors && Object.fromEntries(Object.entries(definition.doors).map(([name, door]) => [name, withFinalizers(door)]));
  return {
    ...withFinalizers(definition),
    ...(definition.status && { status: withFinalizers(definition.status) }),
    ...(doors && { doors }),
    validate: (object, context) => [...finalizerErrors(object.metadata), ...(definition.validate?.(object, context) ?? [])],
  };
}
