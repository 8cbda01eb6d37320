// Warnings about pods and templates that are accepted but better written otherwise (pkg/api/pod, warnings.go).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { ipWarnings, isDNS1123Label } from '#apimachinery/validation';
import { root } from '#apimachinery/field';
import { own, quote, repeats } from '#utils';
import { semanticEqual } from '../../common/equality.ts';
import { isWhole, type ResourceList } from '../../common/quantities.ts';
import { claimSizeWarnings } from '../persistentvolumeclaim/warnings.ts';
import { nodeSelectorTermWarnings, nodeLabelWarning } from '../common/node-labels.ts';
import { appArmorFieldFor } from './apparmor.ts';
import { visitContainers } from './containers.ts';
import { appArmorPrefix, seccompContainerPrefix, seccompPodAnnotation } from './validation/annotations.ts';
import type { PodLike } from './validation/rules.ts';
import { overlapWarnings } from './volume-overlaps.ts';
import { portWarnings } from './port-warnings.ts';

const annotationsWithoutFunction: [string, string][] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
];

const deprecatedVolumes: [keyof core.VolumeSource, string, string?][] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+', 'storageOS'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['ephemeral', ''],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** The warnings for a pod that is created. */
export function podWarnings(pod: core.Pod): string[] {
  const problems = isDNS1123Label(pod.metadata.name ?? '');
  const name = `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`;
  return [...(problems.length > 0 ? [name] : []), ...warningsFor(undefined, pod)];
}

/** The warnings for the pod template at `path` of another kind. */
export const podTemplateWarnings = (path: Path, template: core.PodTemplateSpec | undefined): string[] =>
  template ? warningsFor(path, template) : [];

const below = (path: Path | undefined, name: string): Path => (path === undefined ? root(name) : path.child(name));

function warningsFor(path: Path | undefined, { metadata, spec }: PodLike): string[] {
  if (!spec) return [];
  const at = below(path, 'spec');
  const annotations = metadata?.annotations ?? {};
  const annotationsAt = below(path, 'metadata').child('annotations');
  return [
    ...placementWarnings(at, spec),
    ...annotationsWithoutFunction
      .filter(([key]) => annotations[key] !== undefined)
      .map(([key, message]) => `${annotationsAt.key(key).toString()}: ${message}`),
    ...volumeWarnings(at.child('volumes'), spec),
    ...overlapWarnings(spec.volumes ?? []),
    ...duplicateWarnings(at, spec),
    ...(spec.overhead ? overheadWarnings(at.child('overhead'), spec.overhead) : []),
    ...profileWarnings(at, annotationsAt, annotations, spec, path !== undefined),
    ...portWarnings(at, spec),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${at.child('terminationGracePeriodSeconds').toString()}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...nullSelectorWarnings(at.child('affinity'), spec.affinity),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((server, index) =>
      ipWarnings(at.child('dnsConfig', 'nameservers').index(index), server),
    ),
    ...(spec.hostAliases ?? []).flatMap(({ ip }, index) => ipWarnings(at.child('hostAliases').index(index).child('ip'), ip)),
  ];
}

function placementWarnings(path: Path, spec: core.PodSpec): string[] {
  const warnings: string[] = [];
  for (const key in spec.nodeSelector) {
    const message = nodeLabelWarning(key);
    if (message !== undefined) warnings.push(`${path.child('nodeSelector').key(key).toString()}: ${message}`);
  }
  const affinity = spec.affinity?.nodeAffinity;
  const at = path.child('affinity', 'nodeAffinity');
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
  affinity?.[required]?.nodeSelectorTerms?.forEach((term, index) =>
    warnings.push(...nodeSelectorTermWarnings(at.child(required, 'nodeSelectorTerms').index(index), term, false)),
  );
  affinity?.[preferred]?.forEach(({ preference }, index) =>
    warnings.push(...nodeSelectorTermWarnings(at.child(preferred).index(index).child('preference'), preference, true)),
  );
  spec.topologySpreadConstraints?.forEach(({ topologyKey, labelSelector }, index) => {
    const one = path.child('topologySpreadConstraints').index(index);
    const message = nodeLabelWarning(topologyKey);
    if (message !== undefined) warnings.push(`${one.child('topologyKey').toString()}: ${topologyKey} is ${message}`);
    if (!labelSelector) warnings.push(`${one.child('labelSelector').toString()}: ${nullSelector}`);
  });
  return warnings;
}

const nullSelector = 'a null labelSelector results in matching no pod';

function nullSelectorWarnings(path: Path, affinity: core.Affinity | undefined): string[] {
  const warnings: string[] = [];
  for (const side of ['podAffinity', 'podAntiAffinity'] as const) {
    const terms = affinity?.[side];
    const required = path.child(side, 'requiredDuringSchedulingIgnoredDuringExecution');
    terms?.requiredDuringSchedulingIgnoredDuringExecution?.forEach(({ labelSelector }, index) => {
      if (!labelSelector) warnings.push(`${required.index(index).child('labelSelector').toString()}: ${nullSelector}`);
    });
    const preferred = path.child(side, 'preferredDuringSchedulingIgnoredDuringExecution');
    terms?.preferredDuringSchedulingIgnoredDuringExecution?.forEach(({ podAffinityTerm }, index) => {
      if (!podAffinityTerm?.labelSelector)
        warnings.push(`${preferred.index(index).child('podAffinityTerm', 'labelSelector').toString()}: ${nullSelector}`);
    });
  }
  return warnings;
}

function volumeWarnings(path: Path, spec: core.PodSpec): string[] {
  return (spec.volumes ?? []).flatMap((volume, index) =>
    deprecatedVolumes.flatMap(([name, message, shown]) => {
      const at = path.index(index).child(shown ?? name);
      if (!volume[name]) return [];
      if (name !== 'ephemeral') return [`${at.toString()}: ${message}`];
      const claim = volume.ephemeral?.volumeClaimTemplate;
      return claim ? claimSizeWarnings(at.child('volumeClaimTemplate', 'spec'), claim.spec) : [];
    }),
  );
}

function duplicateWarnings(path: Path, spec: core.PodSpec): string[] {
  const warnings: string[] = [];
  if (!spec.hostAliases && !spec.imagePullSecrets) return warnings;
  const repeated = (list: Path, field: string, values: string[]): void => {
    const isRepeat = repeats();
    values.forEach((value, index) => {
      if (isRepeat(value)) warnings.push(`${list.index(index).child(field).toString()}: duplicate ${field} ${quote(value)}`);
    });
  };
  repeated(
    path.child('hostAliases'),
    'ip',
    (spec.hostAliases ?? []).map(({ ip }) => ip ?? ''),
  );
  const secrets = (spec.imagePullSecrets ?? []).map(({ name }) => name ?? '');
  repeated(path.child('imagePullSecrets'), 'name', secrets);
  secrets.forEach((name, index) => {
    if (name === '')
      warnings.push(`${path.child('imagePullSecrets').index(index).child('name').toString()}: invalid empty name ""`);
  });
  return warnings;
}

const overheadWarnings = (path: Path, overhead: ResourceList): string[] =>
  ['memory', 'ephemeral-storage'].flatMap((name) => fractionWarning(path, overhead, name));

function fractionWarning(path: Path, list: ResourceList, name: string): string[] {
  const amount = own(list, name);
  if (amount === undefined || isWhole(amount)) return [];
  return [`${path.key(name).toString()}: fractional byte value ${quote(amount)} is invalid, must be an integer`];
}

function profileWarnings(
  path: Path,
  annotationsAt: Path,
  annotations: Record<string, string>,
  spec: core.PodSpec,
  isTemplate: boolean,
): string[] {
  const warnings: string[] = [];
  const seccomp = (key: string): void => {
    if (annotations[key] !== undefined)
      warnings.push(`${annotationsAt.key(key).toString()}: non-functional in v1.27+; use the "seccompProfile" field instead`);
  };
  if (!spec.securityContext?.seccompProfile) seccomp(seccompPodAnnotation);
  visitContainers(spec, path, (container, at) => {
    if (!container.securityContext?.seccompProfile) seccomp(seccompContainerPrefix + container.name);
    const key = appArmorPrefix + container.name;
    const annotation = annotations[key];
    const ofPod = spec.securityContext?.appArmorProfile;
    const said = annotation !== undefined && (!container.securityContext?.appArmorProfile || !isTemplate);
    if (said && (ofPod === undefined || !semanticEqual(ofPod, appArmorFieldFor(annotation)))) {
      warnings.push(`${annotationsAt.key(key).toString()}: deprecated since v1.30; use the "appArmorProfile" field instead`);
    }
    const { limits, requests } = container.resources ?? {};
    for (const name of ['memory', 'ephemeral-storage']) {
      if (limits) warnings.push(...fractionWarning(at.child('resources', 'limits'), limits, name));
      if (requests) warnings.push(...fractionWarning(at.child('resources', 'requests'), requests, name));
    }
    warnings.push(...hiddenVariableWarnings(at.child('env'), container.env ?? []));
  });
  return warnings;
}

// A second definition may build on the first, and only then is it meant.
function hiddenVariableWarnings(path: Path, variables: core.EnvVar[]): string[] {
  const isRepeat = repeats();
  return variables.flatMap(({ name, value = '', valueFrom }, index) => {
    if (!isRepeat(name)) return [];
    const reference = `$(${name})`;
    if (!valueFrom && value !== reference && value.includes(reference)) return [];
    return [
      `${path.index(index).toString()}: hides previous definition of ${quote(name)}, which may be dropped when using apply`,
    ];
  });
}
