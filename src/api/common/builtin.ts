// What upstream's built-in kinds have in common beyond the registry's rules for the metadata of every object (pkg/apis/core/validation,
// ValidateObjectMeta and ValidateObjectMetaUpdate): a finalizer without a domain must be one Kubernetes knows, and changes of metadata are
// looked at again, so that clients see such failures more than once.
import { type FieldError, type Path, root } from '#apimachinery/field';
import type { KubeObject, ObjectMeta } from '#apimachinery/meta';
import { nameIsDNSSubdomain, validateObjectMeta, validateObjectMetaUpdate } from '#apimachinery/validation';
import type { KindDefinition, MetadataRules, WriteStrategy } from '../kind.ts';
import { collect, type Report } from './report.ts';

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

export function validateKubeFinalizer(report: Report, path: Path, name: string): void {
  if (name.includes('/') || standardFinalizers.includes(name)) return;
  report.invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified');
}

/** Refuses finalizers without a domain that Kubernetes does not know. */
export function finalizerErrors({ finalizers }: ObjectMeta): FieldError[] {
  if (!finalizers?.length) return [];
  return collect((report) =>
    finalizers.forEach((name, index) => validateKubeFinalizer(report, root('metadata', 'finalizers').index(index), name)),
  );
}

interface MetadataLooks {
  rules: MetadataRules;
  /** Whether finalizers without a domain must be names that Kubernetes knows. */
  finalizers: boolean;
}

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

/**
 * The definition with the rules of all built-in kinds added. `metadataRules` holds for updates of the resource itself; its other doors look at
 * what changed.
 */
export function builtin(definition: KindDefinition<KubeObject>): KindDefinition<KubeObject> {
  const { metadataRules: rules = 'both', kubeFinalizers: finalizers = true } = definition;
  const looks: MetadataLooks = { rules, finalizers };
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
