// Names of a definition that no other definition of its group has (k8s.io/apiextensions-apiserver/pkg/controller/status, NamingConditionController).
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '#api/apiextensions/v1';
import { isTrue, withCondition } from './conditions.ts';

export interface AcceptedNames {
  names: CustomResourceDefinitionNames;
  /** The conflict of the last name checked that has one. */
  conflict?: { reason: string; message: string };
}

const present = (names: readonly (string | undefined)[]): Set<string> => new Set(names.flatMap((name) => (name ? [name] : [])));

/** The names that a definition may have, beside those it has already. */
export function acceptNames(
  { spec, status }: CustomResourceDefinition,
  rivals: readonly CustomResourceDefinition[],
): AcceptedNames {
  const taken = rivals.flatMap((rival) => rival.status?.acceptedNames ?? []);
  const resources = present(taken.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...(shortNames ?? [])]));
  const kinds = present(taken.flatMap(({ kind, listKind }) => [kind, listKind]));
  const before: Partial<CustomResourceDefinitionNames> = status?.acceptedNames ?? {};
  const wanted = spec.names;
  const names: CustomResourceDefinitionNames = { ...before, plural: before.plural ?? '', kind: before.kind ?? '' };
  let conflict: AcceptedNames['conflict'];
  const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;
  const accept = (field: 'plural' | 'singular' | 'kind' | 'listKind', others: ReadonlySet<string>, reason: string): void => {
    const name = wanted[field] ?? '';
    if (name !== before[field] && others.has(name)) conflict = { reason, message: inUse(name) };
    else if (name !== '') names[field] = name;
  };
  accept('plural', resources, 'PluralConflict');
  accept('singular', resources, 'SingularConflict');
  const kept = new Set(before.shortNames);
  const clashing = (wanted.shortNames ?? []).filter((name) => !kept.has(name) && resources.has(name));
  const texts = [...new Set(clashing.map(inUse))];
  if (texts.length > 0) {
    conflict = { reason: 'ShortNamesConflict', message: texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]` };
  } else if (wanted.shortNames) names.shortNames = wanted.shortNames;
  else delete names.shortNames;
  accept('kind', kinds, 'KindConflict');
  accept('listKind', kinds, 'ListKindConflict');
  if (wanted.categories) names.categories = wanted.categories;
  else delete names.categories;
  return conflict ? { names, conflict } : { names };
}

/** The status of a definition with these names; its resource is served from when all are accepted. */
export function namedStatus(
  status: CustomResourceDefinitionStatus | undefined,
  { names, conflict }: AcceptedNames,
  lastTransitionTime: string,
): CustomResourceDefinitionStatus {
  const accepted = conflict ?? { reason: 'NoConflicts', message: 'no conflicts found' };
  const next = withCondition(status, {
    type: 'NamesAccepted',
    status: conflict ? 'False' : 'True',
    lastTransitionTime,
    ...accepted,
  });
  // What is served stays served.
  if (isTrue(next, 'Established')) return { ...next, acceptedNames: names };
  const established = conflict
    ? { reason: 'NotAccepted', message: 'not all names are accepted' }
    : { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
  const condition = { type: 'Established', status: conflict ? 'False' : 'True', lastTransitionTime, ...established };
  return { ...withCondition(next, condition), acceptedNames: names };
}
