// PersistentVolumeClaims of a StatefulSet's pods: made from templates, kept or deleted by policy (KEP-1847).
import type { StatefulSet, StatefulSetSpec } from '#api/apps/v1';
import type { PersistentVolumeClaim, Pod, Volume } from '#api/core/v1';
import type { KubeObject, OwnerReference } from '#apimachinery/meta';
import { controllerRef, type Effect } from '#controller-runtime';
import { persistentVolumeClaims, typed } from '#controller-runtime/workload';
import { inRange } from './kind.ts';

export type Claims = ReadonlyMap<string, PersistentVolumeClaim>;

export const claimName = (template: PersistentVolumeClaim, set: StatefulSet, ordinal: number): string =>
  `${template.metadata.name ?? ''}-${set.metadata.name ?? ''}-${ordinal}`;

export const claimNames = (set: StatefulSet, ordinal: number): string[] =>
  (set.spec?.volumeClaimTemplates ?? []).map((template) => claimName(template, set, ordinal));

/** The volumes of a pod with those of its claims put in. */
export function withClaimVolumes(volumes: readonly Volume[] | undefined, set: StatefulSet, ordinal: number): Volume[] {
  const own = (set.spec?.volumeClaimTemplates ?? []).map(
    (template): Volume => ({
      name: template.metadata.name ?? '',
      persistentVolumeClaim: { claimName: claimName(template, set, ordinal) },
    }),
  );
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...(volumes ?? []).filter(({ name }) => !names.has(name))];
}

/** The claims of an ordinal that are not there yet. */
export function createClaims(set: StatefulSet, ordinal: number, pod: string, claims: Claims): Effect[] {
  return (set.spec?.volumeClaimTemplates ?? []).flatMap((template): Effect[] => {
    const name = claimName(template, set, ordinal);
    if (claims.has(name)) return [];
    const labels = { ...template.metadata.labels, ...set.spec?.selector.matchLabels };
    const { annotations, finalizers } = template.metadata;
    const object: PersistentVolumeClaim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name,
        namespace: set.metadata.namespace,
        labels,
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers }),
      },
      ...(template.spec && { spec: template.spec }),
    };
    const where = `in StatefulSet ${set.metadata.name ?? ''}`;
    const success = { reason: 'SuccessfulCreate', message: `Create Claim ${name} Pod ${pod} ${where} success` };
    const failure = { reason: 'FailedCreate', message: `Create Claim ${name} for Pod ${pod} ${where} failed error: {error}` };
    return [{ op: 'create', resource: persistentVolumeClaims, object, events: { regarding: set, success, failure } }];
  });
}

const policyOf = ({ persistentVolumeClaimRetentionPolicy: policy }: StatefulSetSpec): { scaled: boolean; deleted: boolean } => ({
  scaled: policy?.whenScaled === 'Delete',
  deleted: policy?.whenDeleted === 'Delete',
});

const refersTo = (ref: OwnerReference, owner: KubeObject, apiVersion: string, kind: string): boolean =>
  ref.apiVersion === apiVersion && ref.kind === kind && ref.name === owner.metadata.name;

const refersToSet = (ref: OwnerReference, set: StatefulSet): boolean => refersTo(ref, set, 'apps/v1', 'StatefulSet');
const refersToPod = (ref: OwnerReference, pod: Pod): boolean => refersTo(ref, pod, 'v1', 'Pod');

/** Owned by a pod or set of this name that is no more: the garbage collector is about to take it. */
const hasStaleOwner = ({ metadata }: PersistentVolumeClaim, set: StatefulSet, pod: Pod): boolean =>
  (metadata.ownerReferences ?? []).some(
    (ref) => (refersToSet(ref, set) && ref.uid !== set.metadata.uid) || (refersToPod(ref, pod) && ref.uid !== pod.metadata.uid),
  );

/** A new pod waits until the claim of the old one, deleted with it, is gone. */
export const waitsForStaleClaim = (
  set: StatefulSet,
  spec: StatefulSetSpec,
  pod: Pod,
  names: readonly string[],
  claims: Claims,
): boolean =>
  policyOf(spec).scaled &&
  names.some((name) =>
    (claims.get(name)?.metadata.ownerReferences ?? []).some((ref) => refersToPod(ref, pod) && ref.uid !== pod.metadata.uid),
  );

/** Owner references a claim is to have; undefined when they are right. */
function wantedOwners(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  spec: StatefulSetSpec,
  pod: Pod,
  ordinal: number,
): OwnerReference[] | undefined {
  if (hasStaleOwner(claim, set, pod)) return undefined;
  const refs = claim.metadata.ownerReferences ?? [];
  const others = refs.filter((ref) => !refersToSet(ref, set) && !refersToPod(ref, pod));
  const { scaled, deleted } = policyOf(spec);
  const conflicting = (scaled || deleted) && others.some(({ controller }) => controller);
  const down = !inRange(spec, ordinal);
  const owners: OwnerReference[] = [];
  if (!conflicting) {
    if (deleted && !(scaled && down)) owners.push(controllerRef(set, 'apps', 'v1', 'StatefulSet'));
    if (scaled && down) owners.push(controllerRef(pod, '', 'v1', 'Pod'));
  }
  const wanted = [...others, ...owners];
  const same =
    wanted.length === refs.length &&
    wanted.every((ref) => refs.some(({ uid, controller }) => uid === ref.uid && (!ref.controller || controller)));
  return same ? undefined : wanted;
}

/** Brings the owners of a pod's claims in line with the retention policy. */
export function fixClaimOwners(set: StatefulSet, spec: StatefulSetSpec, pod: Pod, ordinal: number, claims: Claims): Effect[] {
  return claimNames(set, ordinal).flatMap((name): Effect[] => {
    const claim = claims.get(name);
    const ownerReferences = claim && wantedOwners(claim, set, spec, pod, ordinal);
    if (!claim || !ownerReferences) return [];
    const object = { ...typed(claim, 'v1', 'PersistentVolumeClaim'), metadata: { ...claim.metadata, ownerReferences } };
    return [{ op: 'update', resource: persistentVolumeClaims, object }];
  });
}
