// CustomResourceDefinitions themselves (apiextensions.k8s.io/v1; k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition): defaults,
// the rules that serving relies on, and deletion, which waits until the objects are gone.
import { defineKind } from '#api';
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import { type FieldError, invalid, required, root } from '#apimachinery/field';
import { isDNS1035Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { withCondition } from './conditions.ts';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

const spec = root('spec');

function validate(crd: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = [];
  const { group = '', names, versions, scope } = crd.spec ?? {};
  const plural = names?.plural ?? '';
  if (crd.metadata.name !== `${plural}.${group}`)
    errors.push(invalid(root('metadata', 'name'), crd.metadata.name ?? '', 'must be spec.names.plural+"."+spec.group'));
  if (group === '') errors.push(required(spec.child('group')));
  else for (const problem of isDNS1123Subdomain(group)) errors.push(invalid(spec.child('group'), group, problem));
  if (group !== '' && !group.includes('.'))
    errors.push(invalid(spec.child('group'), group, 'should be a domain with at least one dot'));
  if (!scope) errors.push(required(spec.child('scope')));
  for (const [at, version] of (versions ?? []).entries()) {
    for (const problem of isDNS1035Label(version.name))
      errors.push(invalid(spec.child('versions').index(at).child('name'), version.name, problem));
    if (!version.schema?.openAPIV3Schema)
      errors.push(required(spec.child('versions').index(at).child('schema', 'openAPIV3Schema')));
  }
  if ((versions ?? []).filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid(spec.child('versions'), versions ?? null, 'must have exactly one version marked as storage version'));
  }
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const)
    if (!names?.[name]) errors.push(required(spec.child('names', name)));
  return errors;
}

const storageVersion = ({ spec: wanted }: CustomResourceDefinition): string | undefined =>
  wanted?.versions?.find(({ storage }) => storage)?.name;

export const customResourceDefinition = defineKind<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  defaults(draft) {
    const wanted = draft.spec;
    if (!wanted) return;
    const { names } = wanted;
    if (names && !names.singular) names.singular = (names.kind ?? '').toLowerCase();
    if (names && !names.listKind && names.kind) names.listKind = `${names.kind}List`;
    wanted.conversion ??= { strategy: 'None' };
  },
  prepareForCreate(draft) {
    const stored = storageVersion(draft);
    draft.status = {
      acceptedNames: { plural: '', kind: '' },
      storedVersions: stored === undefined ? [] : [stored],
    };
  },
  prepareForUpdate(draft, old) {
    if (old.status) draft.status = old.status;
    const stored = storageVersion(draft);
    const known = draft.status?.storedVersions ?? [];
    if (stored !== undefined && draft.status && !known.includes(stored))
      draft.status = { ...draft.status, storedVersions: [...known, stored] };
  },
  validate,
  validateUpdate: validate,
  resetFields: [['status']],
  deletion: {
    ownFinalizers: ({ metadata }) => (metadata.deletionTimestamp === undefined ? [cleanupFinalizer] : []),
    markTerminating(draft) {
      const { metadata } = draft;
      if (!metadata.finalizers?.includes(cleanupFinalizer))
        metadata.finalizers = [...(metadata.finalizers ?? []), cleanupFinalizer];
      draft.status = withCondition(draft.status, {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: metadata.deletionTimestamp ?? '',
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will be initiated as soon as possible.',
      });
    },
  },
  printer: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Created At', type: 'date' },
    ],
    cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? null],
  },
});
