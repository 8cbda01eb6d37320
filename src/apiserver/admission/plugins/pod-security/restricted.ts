// The rules the level "restricted" adds (k8s.io/pod-security-admission/policy), sorted by id.
import type { Volume } from '#api/core/v1';
import { allowedSeccomp, procMount, seccompProfile } from './baseline.ts';
import {
  type Check,
  type CheckPod,
  containersOf,
  containersWhere,
  contextsWhere,
  named,
  plural,
  quoted,
  setters,
  sorted,
  unlessUserNamespace,
  unlessWindows,
} from './check.ts';

const allowPrivilegeEscalation: CheckPod = (pod) => {
  const bad = containersWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  return bad.length === 0
    ? undefined
    : {
        reason: 'allowPrivilegeEscalation != false',
        detail: `${named('container', bad)} must set securityContext.allowPrivilegeEscalation=false`,
      };
};

const capabilities: CheckPod = (pod) => {
  const extra = (added: readonly string[] | undefined): string[] => (added ?? []).filter((name) => name !== 'NET_BIND_SERVICE');
  const keeping = containersWhere(pod, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  const adding = contextsWhere(pod, (context) => extra(context.capabilities?.add).length > 0);
  const names = sorted(containersOf(pod).flatMap(({ securityContext }) => extra(securityContext?.capabilities?.add)));
  const details = [
    ...(keeping.length > 0 ? [`${named('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.length > 0
      ? [`${named('container', adding)} must not include ${quoted(names)} in securityContext.capabilities.add`]
      : []),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const allowedVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const;

const volumeType = ({ name: _, ...sources }: Volume): string => Object.keys(sources)[0] ?? 'unknown';

const restrictedVolumes: CheckPod = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !allowedVolumes.some((type) => volume[type] !== undefined));
  if (bad.length === 0) return undefined;
  const names = bad.map(({ name }) => name);
  const types = sorted(bad.map(volumeType));
  return {
    reason: 'restricted volume types',
    detail: `${named('volume', names)} ${plural('uses', 'use', names.length)} ${named('restricted volume type', types)}`,
  };
};

const runAsNonRoot: CheckPod = (pod) => {
  const own = pod.spec.securityContext?.runAsNonRoot;
  const explicit = contextsWhere(pod, (context) => context.runAsNonRoot === false);
  const reason = 'runAsNonRoot != true';
  if (own === false || explicit.length > 0) {
    return { reason, detail: `${setters(own === false, explicit)} must not set securityContext.runAsNonRoot=false` };
  }
  const implicit = own ? [] : containersWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  return implicit.length === 0
    ? undefined
    : { reason, detail: `pod or ${named('container', implicit)} must set securityContext.runAsNonRoot=true` };
};

const runAsUser: CheckPod = (pod) => {
  const badPod = pod.spec.securityContext?.runAsUser === 0;
  const containers = contextsWhere(pod, (context) => context.runAsUser === 0);
  return !badPod && containers.length === 0
    ? undefined
    : { reason: 'runAsUser=0', detail: `${setters(badPod, containers)} must not set runAsUser=0` };
};

const seccomp: CheckPod = (pod) => {
  const wrong = seccompProfile(pod);
  if (wrong) return wrong;
  const own = pod.spec.securityContext?.seccompProfile?.type;
  if (own !== undefined && allowedSeccomp(own)) return undefined;
  const bad = containersWhere(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  return bad.length === 0
    ? undefined
    : {
        reason: 'seccompProfile',
        detail: `pod or ${named('container', bad)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
      };
};

export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    versions: [
      { since: 8, check: allowPrivilegeEscalation },
      { since: 25, check: unlessWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    overrides: 'capabilities_baseline',
    versions: [
      { since: 22, check: capabilities },
      { since: 25, check: unlessWindows(capabilities) },
    ],
  },
  { id: 'procMount_restricted', overrides: 'procMount', versions: [{ since: 35, check: procMount }] },
  { id: 'restrictedVolumes', overrides: 'hostPathVolumes', versions: [{ since: 0, check: restrictedVolumes }] },
  {
    id: 'runAsNonRoot',
    versions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: unlessUserNamespace(runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    versions: [
      { since: 23, check: runAsUser },
      { since: 35, check: unlessUserNamespace(runAsUser) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    overrides: 'seccompProfile_baseline',
    versions: [
      { since: 19, check: seccomp },
      { since: 25, check: unlessWindows(seccomp) },
    ],
  },
];
