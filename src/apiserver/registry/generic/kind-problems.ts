// An object that calls itself something else than what its path names: upstream's words (k8s.io/apimachinery/pkg/runtime, scheme and codec).
import { own } from '#utils';
import type { SchemaTable } from '#apimachinery/schema';
import { retiredKinds } from '../retired-kinds.ts';

const scheme = 'k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30';
const goPackage = (group: string): string => (group === '' ? 'core' : (group.split('.')[0] ?? group));

export interface NamedKind {
  group: string;
  version: string;
  kind: string;
  /** The apiVersion as it is written in the object. */
  apiVersion: string;
}

export interface WantedKind {
  schema: SchemaTable;
  group: string;
  kind: string;
  /** The definition of the kind, where it is not a question or a part of another kind. */
  definition?: { otherGroups?: readonly string[] };
}

const isRetired = ({ apiVersion, kind }: NamedKind): boolean => own(retiredKinds, apiVersion)?.split(' ').includes(kind) ?? false;

/** Whether a group serves the objects of the wanted kind, too. */
const isShared = ({ definition, group }: WantedKind, named: string): boolean => {
  const { otherGroups = [] } = definition ?? {};
  return otherGroups.includes(named) || otherGroups.includes(group);
};

/** Whether what is named is the wanted kind in another version: of its group, or of one whose kinds upstream keeps as the same. */
export function isSameKind(wanted: WantedKind, named: NamedKind): boolean {
  if (named.kind !== wanted.kind) return false;
  if (isRetired(named)) return named.group === wanted.group || named.group === 'extensions';
  if (!wanted.schema.kind(named.group, named.version, named.kind)) return false;
  return named.group === wanted.group || isShared(wanted, named.group);
}

/** `from`: where upstream's code makes the scheme that does not know the kind. */
export const unregisteredText = (kind: string, apiVersion: string, from = scheme): string =>
  `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(from)}`;

/** Groups that are servers of their own inside upstream's, with a scheme each: that of one does not know the kinds of another. */
const ownSchemes: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io': 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55',
  'apiregistration.k8s.io': 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28',
};

/** Why a kind that states no version cannot be read: upstream looks for it where the group keeps its own form of kinds. */
export const unversionedText = (kind: string, group: string): string =>
  `no kind ${JSON.stringify(kind)} is registered for the internal version of group ${JSON.stringify(group)} in scheme ${JSON.stringify(own(ownSchemes, group) ?? scheme)}`;

/** Why what is named cannot become the wanted kind: nobody knows it, or it is another one. */
export function conversionProblem(wanted: WantedKind, named: NamedKind): string {
  const { group, version, kind, apiVersion } = named;
  const [home, other] = [own(ownSchemes, wanted.group), own(ownSchemes, group)];
  const isKnown = home === other && (isRetired(named) || wanted.schema.kind(group, version, kind) !== undefined);
  if (!isKnown) return unregisteredText(kind, apiVersion, home);
  return `converting (${version}.${kind}) to (${goPackage(wanted.group)}.${wanted.kind}): unknown conversion`;
}
