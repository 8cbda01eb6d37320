// Which kinds the expressions of a policy are checked against: those that its rules name one by one. Pure.
import type { ValidatingAdmissionPolicySpec } from '#api/admissionregistration/v1';
import type { GroupVersionResource } from '#apimachinery/meta';

export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/** The most kinds that are looked at for one rule, as upstream has it. */
export const kindsOfRuleMax = 10;

/** The resources that each rule names, in the order in which they are tried. A rule with a wildcard for its groups or versions names none. */
export function resourcesOfRules({
  matchConstraints,
}: Pick<ValidatingAdmissionPolicySpec, 'matchConstraints'>): GroupVersionResource[][] {
  return (matchConstraints?.resourceRules ?? []).map(({ apiGroups = [], apiVersions = [], resources = [] }) => {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) return [];
    const named = resources.filter((name) => !/[*/]/.test(name)).sort();
    return [...apiGroups]
      .sort()
      .flatMap((group) => [...apiVersions].sort().flatMap((version) => named.map((resource) => ({ group, version, resource }))));
  });
}

const orderOf = ({ group, version, kind }: GroupVersionKind): string => `${group}\0${version}\0${kind}`;

/** Each once, by group, version and kind. */
export const sortedKinds = (kinds: readonly GroupVersionKind[]): GroupVersionKind[] =>
  [...new Map(kinds.map((one) => [orderOf(one), one]))].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);

/** The kind as Go prints it: `apps/v1, Kind=Deployment`. */
export const kindText = ({ group, version, kind }: GroupVersionKind): string => `${group}/${version}, Kind=${kind}`;
