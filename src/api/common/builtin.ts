// What upstream's built-in kinds have in common beyond the registry's rules for the metadata of every object (pkg/apis/core/validation,
// ValidateObjectMeta and ValidateObjectMetaUpdate): a finalizer without a domain must be one Kubernetes knows, and changes of metadata are
// looked at again, so that clients see such failures more than once.
import { type FieldError, type Path, root } from '#apimachinery/field';
import type { KubeObject, ObjectMeta } from '#apimachinery/meta';
import { nameIsDNSSubdomain, validateObjectMeta, validateObjectMetaUpdate } from '#apimachinery/validation';
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

/**
 * How often upstream's rules of a kind look at the metadata of a changed object, beyond the registry's own look: at what changed, at all of
 * it, at both, or not at all. Clients see the same failure as often.
 */
export type MetadataRules = 'change' | 'whole' | 'both' | 'none';

const path = root('metadata');

function metadataErrors(
  object: KubeObject,
  old: KubeObject,
  definition: KindDefinition<KubeObject>,
  rules: MetadataRules,
): FieldError[] {
  const { metadata } = object;
  const errors: FieldError[] = [];
  if (rules === 'change' || rules === 'both')
    errors.push(...validateObjectMetaUpdate(metadata, old.metadata, path), ...finalizerErrors(metadata));
  if (rules === 'whole' || rules === 'both') {
    const named = validateObjectMeta(
      metadata,
      metadata.namespace !== undefined,
      definition.validateName ?? nameIsDNSSubdomain,
      path,
    );
    errors.push(...named, ...finalizerErrors(metadata));
  }
  return errors;
}

/** The definition with the rules of all built-in kinds added; `rules`: of updates of the resource itself (other doors look at changes). */
export function builtin(definition: KindDefinition<KubeObject>, rules: MetadataRules = 'change'): KindDefinition<KubeObject> {
  const withMetadata = <S extends WriteStrategy<KubeObject>>(strategy: S, own: MetadataRules): S => ({
    ...strategy,
    validateUpdate: (object, old, context) => [
      ...metadataErrors(object, old, definition, own),
      ...(strategy.validateUpdate?.(object, old, context) ?? []),
    ],
  });
  const doors =
    definition.doors &&
    Object.fromEntries(Object.entries(definition.doors).map(([name, door]) => [name, withMetadata(door, 'change')]));
  return {
    ...withMetadata(definition, rules),
    ...(definition.status && { status: withMetadata(definition.status, 'change') }),
    ...(doors && { doors }),
    validate: (object, context) => [...finalizerErrors(object.metadata), ...(definition.validate?.(object, context) ?? [])],
  };
}
