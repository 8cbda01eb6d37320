// Metadata of every object (k8s.io/apimachinery/pkg/api/validation, ValidateObjectMeta).
import { deepEqual, quote } from '#utils';
import { type FieldError, forbidden, gather, invalid, type Path, required, tooLong } from '../field/index.ts';
import { type ManagedFieldsEntry, type ObjectMeta, type OwnerReference, parseApiVersion } from '../meta/index.ts';
import { validateAnnotations, validateLabels } from './labels.ts';
import { subresourceNameLengthMax } from './limits.ts';
import { isDNS1035Label, isDNS1123Label, isDNS1123Subdomain, isQualifiedName, type Problems } from './names.ts';
import { validateFieldManager } from './options.ts';
import { byteLength, immutableError, negativeError } from './texts.ts';

/** Problems with an object's name. `prefix`: more characters will follow (generateName). */
export type NameRule = (name: string, prefix: boolean) => Problems;

// A generateName may end in what a name may not.
const masked = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name);

export const nameIsDNSSubdomain: NameRule = (name, prefix) => isDNS1123Subdomain(prefix ? masked(name) : name);
export const nameIsDNSLabel: NameRule = (name, prefix) => isDNS1123Label(prefix ? masked(name) : name);
export const nameIsDNS1035Label: NameRule = (name, prefix) => isDNS1035Label(prefix ? masked(name) : name);

/** A field that may not change after creation; equal by content. An absent new value prints as null. */
export const validateImmutable = (value: unknown, old: unknown, path: Path): FieldError[] =>
  deepEqual(value ?? null, old ?? null) ? [] : [invalid(path, value ?? null, immutableError)];

export const validateNonNegative = (value: number, path: Path): FieldError[] =>
  value < 0 ? [invalid(path, value, negativeError)] : [];

// In the order upstream's struct prints its fields.
const asPrinted = (owner: OwnerReference): Record<string, unknown> => ({
  apiVersion: owner.apiVersion ?? '',
  kind: owner.kind ?? '',
  name: owner.name ?? '',
  uid: owner.uid ?? '',
  ...(owner.controller !== undefined && { controller: owner.controller }),
  ...(owner.blockOwnerDeletion !== undefined && { blockOwnerDeletion: owner.blockOwnerDeletion }),
});

function validateOwnerReference(owner: OwnerReference, path: Path): FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner;
  const { group, version } = parseApiVersion(apiVersion);
  const malformed = version === '' || version.includes('/');
  const errors: FieldError[] = [];
  if (malformed) errors.push(invalid(path.child('apiVersion'), apiVersion, 'version must not be empty'));
  if (kind === '') errors.push(invalid(path.child('kind'), kind, 'must not be empty'));
  if (name === '') errors.push(invalid(path.child('name'), name, 'must not be empty'));
  if (uid === '') errors.push(invalid(path.child('uid'), uid, 'must not be empty'));
  if (group === '' && version === 'v1' && kind === 'Event') {
    errors.push(invalid(path, asPrinted(owner), '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

export function validateOwnerReferences(owners: readonly OwnerReference[] | undefined, path: Path): FieldError[] {
  let controller = '';
  let printed: readonly Record<string, unknown>[] | undefined;
  return gather(owners ?? [], (owner) => {
    const errors = validateOwnerReference(owner, path);
    if (owner.controller !== true) return errors;
    const current = `${owner.kind}/${owner.name}`;
    if (controller === '') controller = current;
    else {
      printed ??= owners?.map(asPrinted);
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
      errors.push(invalid(path, printed, detail));
    }
    return errors;
  });
}

export const validateFinalizerName = (name: string, path: Path): FieldError[] =>
  isQualifiedName(name).map((problem) => invalid(path, name, problem));

export function validateFinalizers(finalizers: readonly string[] | undefined, path: Path): FieldError[] {
  const names = finalizers ?? [];
  const errors = gather(names, (name) => validateFinalizerName(name, path));
  if (names.includes('orphan') && names.includes('foregroundDeletion')) {
    errors.push(invalid(path, names, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

function validateNoNewFinalizers(names: readonly string[], old: readonly string[], path: Path): FieldError[] {
  const before = new Set(old);
  const extra = [...new Set(names.filter((name) => !before.has(name)))].sort();
  if (extra.length === 0) return [];
  const list = `[]string{${extra.map(quote).join(', ')}}`;
  return [forbidden(path, `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`)];
}

export function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, path: Path): FieldError[] {
  return gather(entries ?? [], (entry, i) => {
    const at = path.index(i);
    const errors: FieldError[] = [];
    const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(invalid(at.child('operation'), operation, 'must be `Apply` or `Update`'));
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1')
      errors.push(invalid(at.child('fieldsType'), fieldsType, 'must be `FieldsV1`'));
    errors.push(...validateFieldManager(manager, at.child('manager')));
    if (byteLength(subresource) > subresourceNameLengthMax)
      errors.push(tooLong(at.child('subresource'), subresourceNameLengthMax));
    return errors;
  });
}

/** Metadata of a new object. `name` must have been generated already. */
export function validateObjectMeta(meta: ObjectMeta, namespaced: boolean, nameRule: NameRule, path: Path): FieldError[] {
  const { name = '', generateName = '', namespace = '' } = meta;
  const errors: FieldError[] = [];
  if (generateName !== '') {
    for (const problem of nameRule(generateName, true)) errors.push(invalid(path.child('generateName'), generateName, problem));
  }
  if (name === '') errors.push(required(path.child('name'), 'name or generateName is required'));
  else for (const problem of nameRule(name, false)) errors.push(invalid(path.child('name'), name, problem));
  if (!namespaced) {
    if (namespace !== '') errors.push(forbidden(path.child('namespace'), 'not allowed on this type'));
  } else if (namespace === '') errors.push(required(path.child('namespace'), ''));
  else for (const problem of isDNS1123Label(namespace)) errors.push(invalid(path.child('namespace'), namespace, problem));
  errors.push(
    ...validateNonNegative(meta.generation ?? 0, path.child('generation')),
    ...validateLabels(meta.labels, path.child('labels')),
    ...validateAnnotations(meta.annotations, path.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')),
    ...validateFinalizers(meta.finalizers, path.child('finalizers')),
    ...validateManagedFields(meta.managedFields, path.child('managedFields')),
  );
  return errors;
}

const sameTime = (a: string | undefined, b: string | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Date.parse(a) === Date.parse(b));

/** What may not change between two versions of an object's metadata. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  const immutable = (field: string, equal: boolean, value: unknown): void => {
    if (!equal) errors.push(invalid(path.child(field), value ?? null, immutableError));
  };
  if (old.deletionTimestamp !== undefined) {
    errors.push(...validateNoNewFinalizers(meta.finalizers ?? [], old.finalizers ?? [], path.child('finalizers')));
  }
  if ((meta.resourceVersion ?? '') === '')
    errors.push(invalid(path.child('resourceVersion'), '', 'must be specified for an update'));
  const generation = meta.generation ?? 0;
  if (generation < (old.generation ?? 0)) errors.push(invalid(path.child('generation'), generation, 'must not be decremented'));
  for (const field of ['name', 'namespace', 'uid'] as const) {
    immutable(field, (meta[field] ?? '') === (old[field] ?? ''), meta[field] ?? '');
  }
  for (const field of ['creationTimestamp', 'deletionTimestamp'] as const)
    immutable(field, sameTime(meta[field], old[field]), meta[field]);
  immutable(
    'deletionGracePeriodSeconds',
    meta.deletionGracePeriodSeconds === old.deletionGracePeriodSeconds,
    meta.deletionGracePeriodSeconds,
  );
  errors.push(
    ...validateLabels(meta.labels, path.child('labels')),
    ...validateAnnotations(meta.annotations, path.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')),
    ...validateManagedFields(meta.managedFields, path.child('managedFields')),
  );
  return errors;
}
