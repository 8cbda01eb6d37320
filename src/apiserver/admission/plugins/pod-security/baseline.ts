// The rules of the level "baseline" (k8s.io/pod-security-admission/policy), sorted by id: that is the order of their messages.
import type { LifecycleHandler, Probe, SELinuxOptions } from '#api/core/v1';
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
} from './check.ts';

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const allowedAppArmor = (type: string): boolean => type === 'RuntimeDefault' || type === 'Localhost';
const allowedAppArmorAnnotation = (value: string): boolean =>
  value === '' || value === 'runtime/default' || value.startsWith('localhost/');

const appArmorProfile: CheckPod = (pod) => {
  const own = pod.spec.securityContext?.appArmorProfile?.type;
  const badPod = own !== undefined && !allowedAppArmor(own);
  const isBad = (type: string | undefined): boolean => type !== undefined && !allowedAppArmor(type);
  const containers = contextsWhere(pod, ({ appArmorProfile: profile }) => isBad(profile?.type));
  const types = containersOf(pod).flatMap(({ securityContext }) => securityContext?.appArmorProfile?.type ?? []);
  const annotations = Object.entries(pod.metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !allowedAppArmorAnnotation(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const who = [
    setters(badPod, containers),
    ...(annotations.length > 0 ? [plural('annotation', 'annotations', annotations.length)] : []),
  ].filter((part) => part !== '');
  if (who.length === 0) return undefined;
  const values = [...sorted([...(badPod ? [own] : []), ...types.filter(isBad)]), ...annotations];
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
    detail: `${who.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

const capabilities: CheckPod = (pod) => {
  const extra = (added: readonly string[] | undefined): string[] =>
    (added ?? []).filter((name) => !defaultCapabilities.has(name));
  const bad = contextsWhere(pod, (context) => extra(context.capabilities?.add).length > 0);
  if (bad.length === 0) return undefined;
  const names = sorted(containersOf(pod).flatMap(({ securityContext }) => extra(securityContext?.capabilities?.add)));
  return {
    reason: 'non-default capabilities',
    detail: `${named('container', bad)} must not include ${quoted(names)} in securityContext.capabilities.add`,
  };
};

const hostNamespaces: CheckPod = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field]);
  return shared.length === 0
    ? undefined
    : { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
};

const hostPathVolumes: CheckPod = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => volume.hostPath).map((volume) => volume.name);
  return bad.length === 0 ? undefined : { reason: 'hostPath volumes', detail: named('volume', bad) };
};

const hostPorts: CheckPod = (pod) => {
  const bad = containersWhere(pod, (container) => container.ports?.some((port) => port.hostPort) ?? false);
  if (bad.length === 0) return undefined;
  const ports = sorted(
    containersOf(pod)
      .flatMap((container) => (container.ports ?? []).flatMap((port) => port.hostPort || []))
      .map(String),
  );
  const verb = plural('uses', 'use', bad.length);
  return {
    reason: 'hostPort',
    detail: `${named('container', bad)} ${verb} ${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}`,
  };
};

const hostsOf = (handler: Probe | LifecycleHandler | undefined): string[] =>
  [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host) => host !== undefined && host !== '') as string[];

const hostProbes: CheckPod = (pod) => {
  const bad: string[] = [];
  const hosts: string[] = [];
  for (const container of containersOf(pod)) {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
    const own = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap(hostsOf);
    if (own.length === 0) continue;
    bad.push(container.name);
    hosts.push(...own);
  }
  if (bad.length === 0) return undefined;
  const names = sorted(bad);
  const distinct = sorted(hosts);
  return {
    reason: 'probe or lifecycle host',
    detail: `${named('container', names)} ${plural('uses', 'use', names.length)} ${named('probe or lifecycle host', distinct)}`,
  };
};

const privileged: CheckPod = (pod) => {
  const bad = contextsWhere(pod, (context) => context.privileged === true);
  return bad.length === 0
    ? undefined
    : { reason: 'privileged', detail: `${named('container', bad)} must not set securityContext.privileged=true` };
};

export const procMount: CheckPod = (pod) => {
  const isBad = (type: string | undefined): boolean => type !== undefined && type !== 'Default';
  const bad = contextsWhere(pod, (context) => isBad(context.procMount));
  if (bad.length === 0) return undefined;
  const types = sorted(
    containersOf(pod)
      .flatMap(({ securityContext }) => securityContext?.procMount ?? [])
      .filter(isBad),
  );
  return {
    reason: 'procMount',
    detail: `${named('container', bad)} must not set securityContext.procMount to ${quoted(types)}`,
  };
};

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

const seLinuxOptions =
  (allowed: readonly string[]): CheckPod =>
  (pod) => {
    const badType = ({ type = '' }: SELinuxOptions): boolean => !allowed.includes(type);
    const isBad = (options: SELinuxOptions | undefined): boolean =>
      options !== undefined && (badType(options) || Boolean(options.user) || Boolean(options.role));
    const podOptions = pod.spec.securityContext?.seLinuxOptions;
    const badPod = isBad(podOptions);
    const containers = contextsWhere(pod, (context) => isBad(context.seLinuxOptions));
    if (!badPod && containers.length === 0) return undefined;
    const all = [podOptions, ...containersOf(pod).map(({ securityContext }) => securityContext?.seLinuxOptions)].filter(
      (options) => options !== undefined,
    );
    const types = sorted(all.filter(badType).map(({ type = '' }) => type));
    const what = [
      ...(types.length > 0 ? [named('type', types)] : []),
      ...(all.some((options) => options.user) ? ['user may not be set'] : []),
      ...(all.some((options) => options.role) ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${setters(badPod, containers)} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    };
  };

export const allowedSeccomp = (type: string): boolean => type === 'RuntimeDefault' || type === 'Localhost';
const allowedSeccompAnnotation = (value: string): boolean =>
  value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');

const seccompAnnotations: CheckPod = (pod) => {
  const keys = [
    'seccomp.security.alpha.kubernetes.io/pod',
    ...containersOf(pod).map(({ name }) => `container.seccomp.security.alpha.kubernetes.io/${name}`),
  ];
  const bad = sorted(
    keys.flatMap((key) => {
      const value = pod.metadata.annotations?.[key];
      return value === undefined || allowedSeccompAnnotation(value) ? [] : [`${key}=${JSON.stringify(value)}`];
    }),
  );
  return bad.length === 0
    ? undefined
    : { reason: 'seccompProfile', detail: `forbidden ${plural('annotation', 'annotations', bad.length)} ${bad.join(', ')}` };
};

/** A profile that is set must be one of the allowed. */
export const seccompProfile: CheckPod = (pod) => {
  const isBad = (type: string | undefined): boolean => type !== undefined && !allowedSeccomp(type);
  const own = pod.spec.securityContext?.seccompProfile?.type;
  const containers = contextsWhere(pod, (context) => isBad(context.seccompProfile?.type));
  if (!isBad(own) && containers.length === 0) return undefined;
  const all = [own ?? '', ...containersOf(pod).map(({ securityContext }) => securityContext?.seccompProfile?.type ?? '')];
  const values = sorted(all.filter((type) => type !== '' && isBad(type)));
  return {
    reason: 'seccompProfile',
    detail: `${setters(isBad(own), containers)} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  };
};

const sysctls10 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const sysctls27 = [...sysctls10, 'net.ipv4.ip_local_reserved_ports'];
const sysctls29 = [
  ...sysctls27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const sysctls32 = [...sysctls29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

const sysctls =
  (allowed: readonly string[]): CheckPod =>
  ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.includes(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };

const windowsHostProcess: CheckPod = (pod) => {
  const badPod = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const containers = contextsWhere(pod, (context) => context.windowsOptions?.hostProcess === true);
  if (!badPod && containers.length === 0) return undefined;
  return {
    reason: 'hostProcess',
    detail: `${setters(badPod, containers)} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};

const always = (check: CheckPod): Check['versions'] => [{ since: 0, check }];

export const baselineChecks: readonly Check[] = [
  { id: 'appArmorProfile', versions: always(appArmorProfile) },
  { id: 'capabilities_baseline', versions: always(capabilities) },
  { id: 'hostNamespaces', versions: always(hostNamespaces) },
  { id: 'hostPathVolumes', versions: always(hostPathVolumes) },
  { id: 'hostPorts', versions: always(hostPorts) },
  { id: 'hostProbesAndHostLifecycle', versions: [{ since: 34, check: hostProbes }] },
  { id: 'privileged', versions: always(privileged) },
  { id: 'procMount', versions: [...always(procMount), { since: 35, check: unlessUserNamespace(procMount) }] },
  {
    id: 'seLinuxOptions',
    versions: [
      ...always(seLinuxOptions(seLinuxTypes)),
      { since: 31, check: seLinuxOptions([...seLinuxTypes, 'container_engine_t']) },
    ],
  },
  { id: 'seccompProfile_baseline', versions: [...always(seccompAnnotations), { since: 19, check: seccompProfile }] },
  {
    id: 'sysctls',
    versions: [
      ...always(sysctls(sysctls10)),
      { since: 27, check: sysctls(sysctls27) },
      { since: 29, check: sysctls(sysctls29) },
      { since: 32, check: sysctls(sysctls32) },
    ],
  },
  { id: 'windowsHostProcess', versions: always(windowsHostProcess) },
];
