// Rules of status updates (pkg/apis/core/validation, ValidatePodStatusUpdate).
import type * as core from '#api/core/v1';
import { type FieldError, internal, type Path, root } from '#apimachinery/field';
import { parseQuantity } from '#apimachinery/quantity';
import { byteLength, isDNS1123Label, isDNS1123Subdomain, isGroupID, isQualifiedName, isUserID } from '#apimachinery/validation';
import { firstOfEach, repeats } from '#utils';
import type { KindContext } from '../../../kind.ts';
import { immutable } from '../../../common/immutable.ts';
import { familyOf, isDualStack, validateLegacyIP } from '../../../common/ip.ts';
import { collect, isEmpty, type Report } from '../../../common/report.ts';
import { isNativeResource } from '../../common/resource-names.ts';
import { validateAnnotationUpdates, validatePodAnnotations } from './annotations.ts';
import { podRules } from './rules.ts';
import { specOf } from './pod.ts';
import { validateStateTransitions } from './state-transitions.ts';

const statusPath = root('status');
const systemConditions = ['PodScheduled', 'Ready', 'Initialized'];
const healths = ['Healthy', 'Unhealthy', 'Unknown'];
const healthMessageBytesMax = 1024;

export function validatePodStatusUpdate(pod: core.Pod, old: core.Pod, context: KindContext): FieldError[] {
  const status = pod.status ?? {};
  const before = old.status ?? {};
  const spec = specOf(pod);
  const annotations = root('metadata', 'annotations');
  return collect((report) => {
    validateAnnotationUpdates(report, annotations, pod.metadata, old.metadata);
    validatePodAnnotations(report, annotations, pod, podRules(pod, context, true, old));
    validateConditions(report, statusPath.child('conditions'), status.conditions);
    if (spec.nodeName !== specOf(old).nodeName) report.forbidden(statusPath.child('nodeName'), 'may not be changed directly');
    validateNomination(
      report,
      statusPath.child('nominatedNodeName'),
      status.nominatedNodeName,
      before.nominatedNodeName,
      specOf(old).nodeName,
    );
    const { observedGeneration } = status;
    if ((observedGeneration ?? 0) < 0)
      report.invalid(statusPath.child('observedGeneration'), observedGeneration, 'must be a non-negative integer');
    immutable(report, statusPath.child('qosClass'), status.qosClass, before.qosClass);
    validateStateTransitions(report, statusPath, status, before, specOf(old));
    validateClaimStatuses(report, statusPath.child('resourceClaimStatuses'), status.resourceClaimStatuses, spec);
    validateExtendedClaim(report, statusPath.child('extendedResourceClaimStatus'), status.extendedResourceClaimStatus, spec);
    validateNodeAllocatable(report, statusPath.child('nodeAllocatableResourceClaimStatuses'), status, spec);
    validateIPs(report, statusPath.child('podIPs'), status.podIPs, before.podIPs);
    const hostIP = status.hostIPs?.[0]?.ip;
    if (hostIP !== undefined && (status.hostIP ?? '') !== hostIP)
      report.invalid(statusPath.child('hostIPs').index(0).child('ip'), hostIP, 'must be equal to `hostIP`');
    validateIPs(report, statusPath.child('hostIPs'), status.hostIPs, before.hostIPs);
    validateUsers(report, status, spec);
    validateAllocated(report, statusPath.child('containerStatuses'), status.containerStatuses, spec.containers);
    validateAllocated(report, statusPath.child('initContainerStatuses'), status.initContainerStatuses, spec.initContainers);
    status.ephemeralContainerStatuses?.forEach(({ allocatedResourcesStatus }, index) => {
      if (isEmpty(allocatedResourcesStatus)) return;
      report.forbidden(
        statusPath.child('ephemeralContainerStatuses').index(index).child('allocatedResourcesStatus'),
        'must not be specified in container status',
      );
    });
  });
}

function validateConditions(report: Report, path: Path, conditions: core.PodCondition[] | undefined): void {
  conditions?.forEach(({ type, observedGeneration }, index) => {
    const at = path.index(index);
    if ((observedGeneration ?? 0) < 0)
      report.invalid(at.child('observedGeneration'), observedGeneration, 'must be a non-negative integer');
    if (!systemConditions.includes(type)) report.problems(at.child('Type'), type ?? '', isQualifiedName(type ?? ''));
  });
}

function validateNomination(
  report: Report,
  path: Path,
  name: string | undefined,
  old: string | undefined,
  boundTo: string | undefined,
): void {
  if (!name || name === old) return;
  report.problems(path, name, isDNS1123Subdomain(name));
  if (boundTo) report.forbidden(path, 'may not be set on pods that are already bound to a node');
}

function validateIPs(report: Report, path: Path, ips: { ip: string }[] | undefined, old: { ip: string }[] | undefined): void {
  const known = (old ?? []).map(({ ip }) => ip);
  ips?.forEach(({ ip }, index) => validateLegacyIP(report, path.index(index), ip ?? '', known));
  if (!ips || ips.length < 2) return;
  const bad = ips.findIndex(({ ip }) => familyOf(ip) === undefined);
  if (bad >= 0) report.add([internal(path, `failed to check for dual stack with error:invalid IP[${bad}]: ${ips[bad]?.ip}`)]);
  const both = isDualStack(ips.map(({ ip }) => familyOf(ip)));
  if (!both || ips.length > 2) {
    report.invalid(
      path,
      ips.map(({ ip }) => ({ IP: ip })),
      'may specify no more than one IP for each IP family',
    );
  }
}

function validateClaimStatuses(
  report: Report,
  path: Path,
  statuses: core.PodResourceClaimStatus[] | undefined,
  spec: core.PodSpec,
): void {
  const isRepeat = repeats();
  const claims = new Set(spec.resourceClaims?.map((claim) => claim.name));
  statuses?.forEach(({ name, resourceClaimName }, index) => {
    const at = path.index(index);
    if (!claims.has(name)) {
      report.invalid(at.child('name'), name, 'must match the name of an entry in `spec.resourceClaims`');
    }
    if (isRepeat(name)) report.duplicate(at.child('name'), name);
    if (resourceClaimName !== undefined)
      report.problems(at.child('resourceClaimName'), resourceClaimName, isDNS1123Subdomain(resourceClaimName));
  });
}

function validateExtendedClaim(
  report: Report,
  path: Path,
  status: core.PodExtendedResourceClaimStatus | undefined,
  spec: core.PodSpec,
): void {
  if (!status) return;
  const mappings = path.child('requestMappings');
  if (isEmpty(status.requestMappings)) report.required(mappings, 'at least one request mapping is required');
  const containers = byName([...(spec.initContainers ?? []), ...(spec.containers ?? [])]);
  const where = 'spec.initContainers.resources.requests or spec.containers.resources.requests';
  const seen = new Set<string>();
  status.requestMappings?.forEach(({ containerName, resourceName, requestName }, index) => {
    const at = mappings.index(index);
    const container = containers.get(containerName);
    if (!container) {
      report.invalid(
        at.child('containerName'),
        containerName,
        'must match the name of an entry in spec.initContainers.name or spec.containers.name',
      );
    } else if (!Object.hasOwn(container.resources?.requests ?? {}, resourceName)) {
      report.invalid(at.child('resourceName'), resourceName, `must match the extended resource name of an entry in ${where}`);
    }
    report.problems(path.child('requestName'), requestName, isDNS1123Label(requestName));
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      report.duplicate(at.child('containerName'), containerName);
      report.duplicate(at.child('resourceName'), resourceName);
      report.duplicate(at.child('requestName'), requestName);
    }
    seen.add(key);
  });
  const { resourceClaimName } = status;
  if (isEmpty(resourceClaimName)) report.required(path.child('resourceClaimName'));
  else report.problems(path.child('resourceClaimName'), resourceClaimName, isDNS1123Subdomain(resourceClaimName));
}

function validateNodeAllocatable(report: Report, path: Path, status: core.PodStatus, spec: core.PodSpec): void {
  const claims = new Set(
    [...(spec.resourceClaims ?? []), ...(status.resourceClaimStatuses ?? [])].map(({ resourceClaimName }) => resourceClaimName),
  );
  status.nodeAllocatableResourceClaimStatuses?.forEach(({ resourceClaimName: name, containers, resources }, index) => {
    const at = path.index(index);
    if (isEmpty(name)) report.required(at.child('resourceClaimName'), 'must not be empty');
    if (!claims.has(name)) report.invalid(at.child('resourceClaimName'), name, 'no mapping found in pod reference');
    if (isEmpty(containers)) report.required(at.child('containers'), 'must not be empty');
    const entries = Object.entries(resources ?? {});
    if (entries.length === 0) report.required(at.child('resources'), 'must not be empty');
    for (const [resource, amount] of entries) {
      const key = at.child('resources').key(resource);
      if (!isNativeResource(resource)) report.invalid(key, resource, 'must be a node allocatable resource name');
      if (parseQuantity(amount).sign < 0) report.invalid(key, amount, 'must be non-negative');
    }
  });
}

function validateUsers(report: Report, status: core.PodStatus, spec: core.PodSpec): void {
  for (const name of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
    status[name]?.forEach(({ user }, index) => {
      const linux = user?.linux;
      if (!linux) return;
      const at = statusPath.child(name).index(index).child('user', 'linux');
      if (spec.os?.name === 'windows') return report.forbidden(at, 'cannot be set for a windows pod');
      report.problems(at.child('uid'), linux.uid, isUserID(linux.uid));
      report.problems(at.child('gid'), linux.gid, isGroupID(linux.gid));
      linux.supplementalGroups?.forEach((group, item) =>
        report.problems(at.child('supplementalGroups').index(item), group, isGroupID(group)),
      );
    });
  }
}

const byName = (containers: readonly core.Container[]): ReadonlyMap<string, core.Container> =>
  firstOfEach(containers, ({ name }) => name);

function validateAllocated(
  report: Report,
  path: Path,
  statuses: core.ContainerStatus[] | undefined,
  containers: core.Container[] | undefined,
): void {
  const named = byName(containers ?? []);
  statuses?.forEach((status, index) => {
    const container = named.get(status.name);
    status.allocatedResourcesStatus?.forEach((allocated, item) => {
      const at = path.index(index).child('allocatedResourcesStatus').index(item);
      if (container) validateAllocatedName(report, at.child('name'), allocated.name, container);
      const seen = new Set<string>();
      allocated.resources?.forEach(({ resourceID, health, message }, device) => {
        const one = at.child('resources').index(device);
        report.known(one.child('health'), health, healths);
        if (message === '') report.required(one.child('message'), 'must be non-empty if specified');
        else if (byteLength(message ?? '') > healthMessageBytesMax) report.tooLong(one.child('message'), healthMessageBytesMax);
        if (seen.has(resourceID)) report.duplicate(one.child('resourceID'), resourceID);
        seen.add(resourceID);
      });
    });
  });
}

function validateAllocatedName(report: Report, path: Path, name: string, { resources }: core.Container): void {
  if (name.startsWith('claim:')) {
    const claims = (resources?.claims ?? []).map((claim) => `claim:${claim.name}${claim.request ? `/${claim.request}` : ''}`);
    const detail =
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
    if (!claims.includes(name)) report.invalid(path, name, detail);
  } else if (!Object.hasOwn(resources?.requests ?? {}, name))
    report.invalid(path, name, "must match one of the container's resource requests");
}
