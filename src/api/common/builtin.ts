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

/** Finalizers without a domain that Kubernetes does not know. */
export function finalizerErrors({ finalizers }: ObjectMeta): FieldError[] {
  if (!finalizers?.length) return [];
  return collect((report) =>
    finalizers.forEach((name, index) => validateKubeFinalizer(report, root('metadata', 'finalizers').index(index), name)),
  );
}

/** What a kind's rules look at beside its own fields. */
export interface MetadataLooks {
  rules: MetadataRules;
  /** Finalizers are held to Kubernetes' own names, too. */
  finalizers: boolean;
}

/**
 * How often upstream's rules of a kind look at the metadata of a changed object, beyond the registry's own look: at what changed, at all of
 * it (once or twice), at both, or not at all. Clients see the same failure as often.
 */
export type MetadataRules = 'change' | 'whole' | 'twice' | 'both' | 'none';

const path = root('metadata');

function metadataErrors(
  object: KubeObject,
  old: KubeObject,
  definition: KindDefinition<KubeObject>,
  { rules, finalizers }: MetadataLooks,
): FieldError[] {
  const { metadata } = object;
  const names = finalizers ? finalizerErrors(metadata) : [];
  const errors: FieldError[] = [];
  if (rules === 'change' || rules === 'both') errors.push(...validateObjectMetaUpdate(metadata, old.metadata, path), ...names);
  if (rules === 'whole' || rules === 'twice' || rules === 'both') {
    const named = validateObjectMeta(
      metadata,
      metadata.namespace !== undefined,
      definition.validateName ?? nameIsDNSSubdomain,
      path,
    );
    errors.push(...named, ...names);
    if (rules === 'twice') errors.push(...named, ...names);
  }
  return errors;
}

/** The definition with the rules of all built-in kinds added; `looks`: of updates of the resource itself (other doors look at changes). */
export function builtin(definition: KindDefinition<KubeObject>, looks: MetadataLooks): KindDefinition<KubeObject> {
  const changes: MetadataLooks = { ...looks, rules: 'change' };
  const withMetadata = <S extends WriteStrategy<KubeObject>>(strategy: S, own: MetadataLooks): S => ({
    ...strategy,
    validateUpdate: (object, old, context) => [
      ...metadataErrors(object, old, definition, own),
      ...(strategy.validateUpdate?.(object, old, context) ?? []),
    ],
  });
  const doors =
    definition.doors &&
    Object.fromEntries(Object.entries(definition.doors).map(([name, door]) => [name, withMetadata(door, changes)]));
  return {
    ...withMetadata(definition, looks),
    ...(definition.status && { status: withMetadata(definition.status, changes) }),
    ...(doors && { doors }),
    validate: (object, context) => [
      ...(looks.finalizers ? finalizerErrors(object.metadata) : []),
      ...(definition.validate?.(object, context) ?? []),
    ],
  };
}
