// What a pod or pod template gets when its author left it out (pkg/apis/core/v1/defaults.go and the markers of k8s.io/api/core/v1).
// Every function changes its argument and does nothing the second time.
import type * as core from '#api/core/v1';
import type { ObjectMeta } from '#apimachinery/meta';
import { roundUpResourceList } from '../../common/quantities.ts';
import { isEmptyMap } from '../../common/report.ts';
import { isOvercommitAllowed, isHugePageResourceName, isPodLevelResource } from '../common/resource-names.ts';
import { persistentVolumeClaimSpecDefaults } from '../persistentvolumeclaim/defaults.ts';
import { defaultPullPolicy } from './images.ts';
import { containersOf } from './containers.ts';
import { aggregateResources } from './resources.ts';
import { volumeDefaults } from './volume-defaults.ts';

/** Names of an annotation of old API servers that conversion drops. */
const droppedAnnotations = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];

/** Fills in the defaults of a whole pod. */
export function podDefaults(pod: core.Pod): void {
  dropOldAnnotations(pod.metadata);
  const spec = (pod.spec ??= { containers: [] });
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) limitsAsRequests(container);
  podLevelHugePageLimits(spec);
  podLevelRequests(spec);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork)
    for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) hostNetworkPorts(container);
  podSpecDefaults(spec);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  if (pod.status) alignPodIPs(pod.status);
}

/** Defaults of a template: everything of a pod but what only pods get (requests from limits, service links). */
export function podTemplateDefaults(template: core.PodTemplateSpec): void {
  if (template.metadata) dropOldAnnotations(template.metadata);
  podSpecDefaults((template.spec ??= { containers: [] }));
}

export function podSpecDefaults(spec: core.PodSpec): void {
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= 'default-scheduler';
  alignServiceAccount(spec);
  for (const volume of spec.volumes ?? []) {
    volumeDefaults(volume);
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
    if (claim) persistentVolumeClaimSpecDefaults(claim);
  }
  for (const container of containersOf(spec)) containerDefaults(container);
  roundUpResourceList(spec.overhead);
  roundUpResourceList(spec.resources?.limits);
  roundUpResourceList(spec.resources?.requests);
}

/** `serviceAccount` is an old name of `serviceAccountName`: both always say the same. */
export function alignServiceAccount(spec: core.PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (name) {
    // Read back, nothing is left to do: the object may be frozen then.
    if (spec.serviceAccountName !== name) spec.serviceAccountName = name;
    if (spec.serviceAccount !== name) spec.serviceAccount = name;
  } else {
    delete spec.serviceAccount;
    delete spec.serviceAccountName;
  }
}

/** `podIP` is the first of `podIPs`; when they differ, the former counts. */
export function alignPodIPs(status: core.PodStatus): void {
  const first = status.podIPs?.[0]?.ip;
  if (status.podIP && status.podIP !== first) status.podIPs = [{ ip: status.podIP }];
  else if (first && status.podIP !== first) status.podIP = first;
}

function dropOldAnnotations(metadata: ObjectMeta): void {
  for (const key of droppedAnnotations) if (metadata.annotations?.[key] !== undefined) delete metadata.annotations[key];
}

type Amounts = Readonly<Record<string, string>>;

/** Only where something is missing: what is whole already may be shared with the stored object. */
function addMissing(resources: core.ResourceRequirements, field: 'limits' | 'requests', amounts: Amounts): void {
  const known = resources[field] ?? {};
  if (Object.keys(amounts).every((name) => Object.hasOwn(known, name))) return;
  resources[field] = { ...amounts, ...known };
}

function limitsAsRequests({ resources }: core.Container): void {
  if (resources?.limits) addMissing(resources, 'requests', resources.limits);
}

function podLevelHugePageLimits(spec: core.PodSpec): void {
  const { resources } = spec;
  if (!resources || (isEmptyMap(resources.limits) && isEmptyMap(resources.requests))) return;
  const huge = Object.entries(aggregateResources(spec, 'limits')).filter(
    ([name]) => isHugePageResourceName(name) && resources.requests?.[name] === undefined,
  );
  addMissing(resources, 'limits', Object.fromEntries(huge));
}

function podLevelRequests(spec: core.PodSpec): void {
  const { resources } = spec;
  if (!resources || isEmptyMap(resources.limits)) return;
  const limits = Object.entries(resources.limits ?? {}).filter(([name]) => isPodLevelResource(name));
  const aggregate = Object.entries(aggregateResources(spec, 'requests')).filter(
    ([name]) => isPodLevelResource(name) && isOvercommitAllowed(name),
  );
  addMissing(resources, 'requests', Object.fromEntries([...limits, ...aggregate]));
}

function hostNetworkPorts(container: core.Container): void {
  for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
}

function containerDefaults(container: core.Container | core.EphemeralContainer): void {
  container.imagePullPolicy ||= defaultPullPolicy(container.image);
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ||= 'v1';
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
  roundUpResourceList(container.resources?.limits);
  roundUpResourceList(container.resources?.requests);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe])
    if (probe) probeDefaults(probe);
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop]) httpGetDefaults(handler?.httpGet);
}

function probeDefaults(probe: core.Probe): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  httpGetDefaults(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function httpGetDefaults(action: core.HTTPGetAction | undefined): void {
  if (!action) return;
  action.path ||= '/';
  action.scheme ||= 'HTTP';
}
