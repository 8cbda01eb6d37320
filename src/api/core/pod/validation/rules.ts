// What an update may keep although it would no longer be accepted (pkg/api/pod, GetValidationOptionsFromPodSpecAndMeta): rules that became
// stricter never make an existing pod impossible to update.
import type { KindContext } from '../../../kind.ts';
import type { PodAffinityTerm, PodSpec } from '#api/core/v1';
import type { ObjectMeta } from '#apimachinery/meta';
import { isLabelValue } from '#apimachinery/validation';
import { collect } from '../../../common/report.ts';
import { selectorHasInvalidValue, validateLabelSelector } from '../../../common/labels.ts';
import { validateLocalNonReservedPath } from '../../common/paths.ts';
import { hasIndivisibleHugePages, type ResourceRules } from '../../common/resources.ts';
import { containersOf, isSidecar } from '../containers.ts';
import { root } from '#apimachinery/field';
import { hostSysctlProblem } from './sysctls.ts';
import { matchLabelKeysProblems } from './topology-spread.ts';

export interface PodRules extends ResourceRules {
  /** The object is a pod, not a template inside another kind. */
  isPod: boolean;
  claimNames: ReadonlySet<string>;
  /** False: `privileged: true` is refused (kube-apiserver's --allow-privileged). */
  allowPrivileged: boolean;
  allowInvalidDeletionCost?: boolean;
  allowInvalidSelectorValues?: boolean;
  allowInvalidNodeAffinityValues?: boolean;
  allowInvalidSpreadSelector?: boolean;
  legacyMatchLabelKeys?: boolean;
  allowNonLocalTokenPath?: boolean;
  allowHostSysctls?: boolean;
  allowVolumeDevicesWithUserNamespaces?: boolean;
  allowHostNetworkWithUserNamespaces?: boolean;
  allowMountOptionSELinux?: boolean;
  allowComparisonTolerations?: boolean;
  allowRestartContainerForInit?: boolean;
}

/** Metadata and spec of a pod or of a template. */
export interface PodLike {
  metadata?: ObjectMeta;
  spec?: PodSpec;
}

/** Rules for `pod`, given what the object had before, if anything. `isPod`: it is no template. */
export function podRules(pod: PodLike, context: KindContext, isPod: boolean, old?: PodLike): PodRules {
  const claimNames = new Set((pod.spec?.resourceClaims ?? []).map((claim) => claim.name).filter((name) => name !== ''));
  const rules: PodRules = { isPod, claimNames, allowPrivileged: context.settings?.allowPrivileged === true };
  if (old?.spec) Object.assign(rules, toleratedOf(old.spec));
  if (!isDeletionCost(old?.metadata?.annotations?.[deletionCostAnnotation])) rules.allowInvalidDeletionCost = true;
  return rules;
}

export const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';

/** A 32 bit integer as Go prints it; absent is fine. */
export function isDeletionCost(value: string | undefined): boolean {
  if (value === undefined) return true;
  return /^(0|-?[1-9][0-9]*|-0[0-9]*)$/.test(value) && Math.abs(Number(value) + 0.5) <= 2147483647.5;
}

function toleratedOf(old: PodSpec): Partial<PodRules> {
  const hostUsersOff = old.hostUsers === false;
  const containers = containersOf(old);
  return {
    allowIndivisibleHugePages: hasIndivisibleHugePages(
      containers.flatMap(({ resources }) => [resources?.limits, resources?.requests]),
    ),
    allowInvalidSelectorValues: affinityTerms(old).some((term) => hasInvalidSelector(term)),
    allowInvalidNodeAffinityValues: hasInvalidNodeAffinity(old),
    allowInvalidSpreadSelector: (old.topologySpreadConstraints ?? []).some(
      ({ labelSelector }) => collect((report) => validateLabelSelector(report, anywhere, labelSelector)).length > 0,
    ),
    legacyMatchLabelKeys: (old.topologySpreadConstraints ?? []).some(
      (constraint) => collect((report) => matchLabelKeysProblems(report, anywhere, constraint)).length > 0,
    ),
    allowNonLocalTokenPath: hasNonLocalTokenPath(old),
    allowHostSysctls: (old.securityContext?.sysctls ?? []).some(({ name }) => hostSysctlProblem(name, old) !== undefined),
    allowVolumeDevicesWithUserNamespaces:
      hostUsersOff && containers.some(({ volumeDevices }) => (volumeDevices?.length ?? 0) > 0),
    allowHostNetworkWithUserNamespaces: hostUsersOff && old.hostNetwork === true,
    allowMountOptionSELinux: old.securityContext?.seLinuxChangePolicy !== undefined,
    allowComparisonTolerations: (old.tolerations ?? []).some(({ operator }) => operator === 'Lt' || operator === 'Gt'),
    allowRestartContainerForInit: (old.initContainers ?? []).some(
      (container) =>
        !isSidecar(container) && container.resizePolicy?.some(({ restartPolicy }) => restartPolicy === 'RestartContainer'),
    ),
  };
}

const anywhere = root('spec');

const hasInvalidSelector = ({ labelSelector, namespaceSelector }: PodAffinityTerm): boolean =>
  selectorHasInvalidValue(labelSelector) || selectorHasInvalidValue(namespaceSelector);

function affinityTerms({ affinity }: PodSpec): PodAffinityTerm[] {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((side) => [
    ...(side?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(side?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
}

const hasInvalidNodeAffinity = ({ affinity }: PodSpec): boolean =>
  (affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).some((term) =>
    term.matchExpressions?.some(({ values }) => values?.some((value) => isLabelValue(value).length > 0)),
  );

const hasNonLocalTokenPath = ({ volumes }: PodSpec): boolean =>
  (volumes ?? []).some((volume) =>
    volume.projected?.sources?.some(
      ({ serviceAccountToken: token }) =>
        token && collect((report) => validateLocalNonReservedPath(report, anywhere, token.path)).length > 0,
    ),
  );
