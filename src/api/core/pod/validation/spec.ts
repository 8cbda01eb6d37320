// Rules of a pod's spec, of pods and of templates (pkg/apis/core/validation, ValidatePodSpec and ValidatePodTemplateSpec).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import type { ObjectMeta } from '#apimachinery/meta';
import { parseQuantity } from '#apimachinery/quantity';
import { inclusiveRangeError, isDNS1123Label, isDNS1123Subdomain, isQualifiedName } from '#apimachinery/validation';
import { firstOfEach, own } from '#utils';
import type { KindContext } from '../../../kind.ts';
import { validateAnnotations, validateLabels } from '../../../common/labels.ts';
import { maxInt32 } from '../../../common/numbers.ts';
import { isEmpty, nowhere, type Report } from '../../../common/report.ts';
import { isHugePageResourceName } from '../../common/resource-names.ts';
import { validateContainerResources, validatePodLevelResources } from '../../common/resources.ts';
import { visitContainers } from '../containers.ts';
import { aggregateResources } from '../resources.ts';
import { validateAffinity } from './affinity.ts';
import { mirrorAnnotation, validatePodAnnotations, validateProfilesMatch } from './annotations.ts';
import { validateContainers, validateEphemeralContainers, validateInitContainers } from './containers.ts';
import { validateDNSConfig, validateHostAliases, validateHostnameOverride } from './dns.ts';
import { type PodRules, podRules } from './rules.ts';
import { validatePodSecurityContext } from './security-context.ts';
import { validateTolerations } from './tolerations.ts';
import { validateTopologySpread } from './topology-spread.ts';
import { validateVolumes } from './volumes.ts';
import { validateHostProcess, validateOS } from './windows.ts';

export const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
export const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

/** Checks the spec of a pod. `meta` is the pod's own, and undefined in templates. */
export function validatePodSpec(
  report: Report,
  path: Path,
  spec: core.PodSpec,
  meta: ObjectMeta | undefined,
  rules: PodRules,
): void {
  if (spec.terminationGracePeriodSeconds === undefined) report.required(path.child('terminationGracePeriodSeconds'));
  const volumes = validateVolumes(report, path.child('volumes'), spec.volumes ?? [], meta, rules);
  validateResourceClaims(report, path.child('resourceClaims'), spec.resourceClaims, meta);
  const context = { spec, volumes, rules };
  validateContainers(report, path.child('containers'), context);
  validateInitContainers(report, path.child('initContainers'), context);
  validateEphemeralContainers(report, path.child('ephemeralContainers'), context);
  validateOwnResources(report, path.child('resources'), spec, rules);
  validateHostNetworkPorts(report, path.child('containers'), spec, rules);
  report.oneOf(path.child('restartPolicy'), spec.restartPolicy, ['Always', 'OnFailure', 'Never']);
  report.oneOf(path.child('dnsPolicy'), spec.dnsPolicy, dnsPolicies);
  validateLabels(report, path.child('nodeSelector'), spec.nodeSelector);
  validatePodSecurityContext(report, path.child('securityContext'), spec, rules);
  validateAffinity(report, path.child('affinity'), spec.affinity, rules);
  validateDNSConfig(report, path.child('dnsConfig'), spec);
  spec.readinessGates?.forEach(({ conditionType = '' }: Partial<core.PodReadinessGate>, index) =>
    report.problems(
      path.child('readinessGates').index(index).child('conditionType'),
      conditionType,
      isQualifiedName(conditionType),
    ),
  );
  validateSchedulingGates(report, path.child('schedulingGates'), spec.schedulingGates);
  validateTopologySpread(report, path.child('topologySpreadConstraints'), spec.topologySpreadConstraints, rules);
  validateHostProcess(report, path, spec, rules);
  validateHostUsers(report, path, spec, rules);
  validateHostnameOverride(report, path.child('hostnameOverride'), spec);
  validateNames(report, path, spec);
  validateTolerations(report, path.child('tolerations'), spec.tolerations, rules.allowComparisonTolerations);
  validateHostAliases(report, path.child('hostAliases'), spec);
  validateClasses(report, path, spec, rules);
  validateOS(report, path, spec);
  validateFileKeyVolumes(report, path, spec);
}

function validateNames(report: Report, path: Path, spec: core.PodSpec): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds: deadline, hostname, subdomain } = spec;
  if (serviceAccountName)
    report.problems(path.child('serviceAccountName'), serviceAccountName, isDNS1123Subdomain(serviceAccountName));
  if (nodeName) report.problems(path.child('nodeName'), nodeName, isDNS1123Subdomain(nodeName));
  if (deadline !== undefined && (deadline < 1 || deadline > maxInt32)) {
    report.invalid(path.child('activeDeadlineSeconds'), deadline, inclusiveRangeError(1, maxInt32));
  }
  if (hostname) report.problems(path.child('hostname'), hostname, isDNS1123Label(hostname));
  if (subdomain) report.problems(path.child('subdomain'), subdomain, isDNS1123Label(subdomain));
}

function validateClasses(report: Report, path: Path, spec: core.PodSpec, rules: PodRules): void {
  const { priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec;
  if (priorityClassName)
    report.problems(path.child('priorityClassName'), priorityClassName, isDNS1123Subdomain(priorityClassName));
  if (runtimeClassName !== undefined)
    report.problems(path.child('runtimeClassName'), runtimeClassName, isDNS1123Subdomain(runtimeClassName));
  if (preemptionPolicy !== undefined) report.oneOf(path.child('preemptionPolicy'), preemptionPolicy, preemptionPolicies);
  if (overhead)
    validateContainerResources(report, path.child('overhead'), { limits: overhead }, { ...rules, claimNames: new Set() });
}

function validateResourceClaims(
  report: Report,
  path: Path,
  claims: core.PodResourceClaim[] | undefined,
  meta: ObjectMeta | undefined,
): void {
  const names = new Set<string>();
  claims?.forEach((claim, index) => {
    if (meta?.annotations?.[mirrorAnnotation] !== undefined) {
      return report.forbidden(nowhere, 'static pods do not support resource claims');
    }
    const at = path.index(index);
    const { name, resourceClaimName: claimName, resourceClaimTemplateName: templateName } = claim;
    if (isEmpty(name)) report.required(at.child('name'));
    else if (names.has(name)) report.duplicate(at.child('name'), name);
    else {
      report.problems(at.child('name'), name, isDNS1123Label(name));
      names.add(name);
    }
    const shown = { Name: name ?? '', ResourceClaimName: claimName ?? null, ResourceClaimTemplateName: templateName ?? null };
    if (claimName !== undefined && templateName !== undefined) {
      report.invalid(at, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified');
    }
    if (claimName === undefined && templateName === undefined) {
      report.invalid(at, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    }
    if (claimName !== undefined) report.problems(at.child('resourceClaimName'), claimName, isDNS1123Subdomain(claimName));
    if (templateName !== undefined)
      report.problems(at.child('resourceClaimTemplateName'), templateName, isDNS1123Subdomain(templateName));
  });
}

function validateOwnResources(report: Report, path: Path, spec: core.PodSpec, rules: PodRules): void {
  const { resources } = spec;
  if (!resources) return;
  if (spec.os?.name === 'windows') return report.forbidden(path, 'may not be set for a windows pod');
  if (resources.claims) report.forbidden(path.child('claims'), 'claims may not be set for Resources at pod-level');
  validatePodLevelResources(report, path, resources, rules);
  const more = (amount: string, than: string | undefined): than is string =>
    than !== undefined && parseQuantity(amount).compare(parseQuantity(than)) > 0;
  for (const [name, sum] of Object.entries(aggregateResources(spec, 'requests'))) {
    const whole = own(resources.requests ?? {}, name);
    if (more(sum, whole))
      report.invalid(
        path.child('requests').key(name),
        whole,
        `must be greater than or equal to aggregate container requests of ${sum}`,
      );
  }
  for (const [name, sum] of Object.entries(aggregateResources(spec, 'limits'))) {
    const whole = own(resources.limits ?? {}, name);
    if (isHugePageResourceName(name) && more(sum, whole)) {
      report.invalid(
        path.child('limits').key(name),
        whole,
        `must be greater than or equal to aggregate container limits of ${sum}`,
      );
    }
  }
  spec.containers?.forEach((container, index) => {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const whole = own(resources.limits ?? {}, name);
      if (more(limit, whole)) {
        report.invalid(
          path.child('containers').index(index).key(name).child('limits'),
          limit,
          `must be less than or equal to pod limits of ${whole}`,
        );
      }
    }
  });
}

function validateHostNetworkPorts(report: Report, path: Path, spec: core.PodSpec, rules: PodRules): void {
  if (!spec.hostNetwork) return;
  spec.containers?.forEach((container, index) => {
    container.ports?.forEach(({ hostPort = 0, containerPort }, port) => {
      if ((rules.isPod || hostPort !== 0) && hostPort !== containerPort) {
        report.invalid(
          path.index(index).child('ports').index(port).child('hostPort'),
          hostPort,
          'must match `containerPort` when `hostNetwork` is true',
        );
      }
    });
  });
}

function validateSchedulingGates(report: Report, path: Path, gates: core.PodSchedulingGate[] | undefined): void {
  const seen = new Set<string>();
  gates?.forEach(({ name = '' }: Partial<core.PodSchedulingGate>, index) => {
    report.problems(path.index(index), name, isQualifiedName(name));
    if (seen.has(name)) report.duplicate(path.index(index), name);
    seen.add(name);
  });
}

// Upstream writes two of these paths with a capital.
function validateHostUsers(report: Report, path: Path, spec: core.PodSpec, rules: PodRules): void {
  if (spec.hostUsers !== false) return;
  const detail = 'when `hostUsers` is false';
  if (spec.hostNetwork && !rules.allowHostNetworkWithUserNamespaces) report.forbidden(path.child('hostNetwork'), detail);
  if (spec.hostPID) report.forbidden(path.child('HostPID'), detail);
  if (spec.hostIPC) report.forbidden(path.child('HostIPC'), detail);
  if (rules.allowVolumeDevicesWithUserNamespaces) return;
  visitContainers(spec, path, ({ volumeDevices }, at) => {
    if (!isEmpty(volumeDevices)) report.forbidden(at.child('volumeDevices'), detail);
  });
}

function validateFileKeyVolumes(report: Report, path: Path, spec: core.PodSpec): void {
  const volumes = firstOfEach(spec.volumes ?? [], ({ name }) => name);
  visitContainers(spec, path, ({ env }, at) => {
    env?.forEach(({ valueFrom }, index) => {
      const ref = valueFrom?.fileKeyRef;
      if (!ref) return;
      const field = at.child('env').index(index).child('valueFrom', 'fileKeyRef', 'volumeName');
      const volume = volumes.get(ref.volumeName);
      if (!volume) report.notFound(field, ref.volumeName);
      else if (!volume.emptyDir) report.invalid(field, ref.volumeName, 'referenced volume must be of type emptyDir');
    });
  });
}

/** A template inside another kind. `old`: what it was before an update. */
export function validatePodTemplateSpec(
  report: Report,
  path: Path,
  template: core.PodTemplateSpec,
  context: KindContext,
  old?: core.PodTemplateSpec,
): void {
  const spec = template.spec ?? { containers: [] };
  const rules = podRules(template, context, false, old);
  validateLabels(report, path.child('labels'), template.metadata?.labels);
  validateAnnotations(report, path.child('annotations'), template.metadata?.annotations);
  validatePodAnnotations(report, path.child('annotations'), { ...template, spec }, rules);
  validatePodSpec(report, path.child('spec'), spec, undefined, rules);
  validateProfilesMatch(report, path.child('spec'), { ...template, spec });
  if (!isEmpty(spec.ephemeralContainers))
    report.forbidden(path.child('spec', 'ephemeralContainers'), 'ephemeral containers not allowed in pod template');
}
