// What an object counts against a quota (pkg/quota/v1/evaluator/core). Amounts are quantities by quota resource name.
import type { PersistentVolumeClaim, Pod, Service } from '#api/core/v1';
import type { ResourceClaim } from '#api/resource/v1';
import { asKind, type KubeObject } from '#apimachinery/meta';
import { parseQuantity, type Quantity, quantityOf, zeroQuantity } from '#apimachinery/quantity';
import { podTotals } from '../pod/index.ts';
import { podConstraintProblem, podMatchesScope } from './pod-rules.ts';
import type { ScopeSelector } from './scopes.ts';

export type Amounts = Map<string, Quantity>;

/** What of a write decides whether it may change what is used. */
export interface QuotaWrite {
  operation: string;
  subresource: string;
  object?: KubeObject;
  oldObject?: KubeObject;
}

/** How a quota counts the objects of one resource. */
export interface Evaluator {
  handles(request: QuotaWrite): boolean;
  /** Whether a quota's resource name is this evaluator's business. */
  counts(name: string): boolean;
  usage(object: KubeObject, nowMs: number): Amounts;
  matchesScope(selector: ScopeSelector, object: KubeObject): boolean;
  /** What the object must say but does not, given the quota's resources. */
  problem?(required: readonly string[], object: KubeObject): string | undefined;
}

const one = quantityOf(1);
const never = (): boolean => false;
const creates = ({ operation, subresource }: QuotaWrite): boolean => operation === 'CREATE' && subresource === '';
const writes = ({ operation, subresource }: QuotaWrite): boolean =>
  subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');

/** The name under which a quota counts objects: `count/pods`, `count/deployments.apps`. */
export const countName = (group: string, resource: string): string => `count/${group === '' ? resource : `${resource}.${group}`}`;

const podNames: ReadonlySet<string> = new Set([
  'count/pods',
  'pods',
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

const hugePages = 'hugepages-';
const requests = 'requests.';

const isNative = (name: string): boolean => !name.includes('/') || name.slice(0, name.indexOf('/')).endsWith('kubernetes.io');
const isExtended = (name: string): boolean =>
  name.startsWith(requests) && (!isNative(name) || name.startsWith('requests.deviceclass.resource.kubernetes.io/'));

const expired = ({ metadata }: Pod, nowMs: number): boolean =>
  metadata.deletionTimestamp !== undefined &&
  metadata.deletionGracePeriodSeconds !== undefined &&
  nowMs > Date.parse(metadata.deletionTimestamp) + metadata.deletionGracePeriodSeconds * 1000;

function podUsage(pod: Pod, nowMs: number): Amounts {
  const usage: Amounts = new Map([['count/pods', one]]);
  if (['Failed', 'Succeeded'].includes(pod.status?.phase ?? '') || expired(pod, nowMs)) return usage;
  usage.set('pods', one);
  for (const [name, amount] of podTotals(pod, 'requests')) {
    if (name === 'cpu' || name === 'memory' || name === 'ephemeral-storage' || name.startsWith(hugePages))
      usage.set(name, amount);
    if (usage.has(name) || !isNative(name)) usage.set(requests + name, amount);
  }
  for (const [name, amount] of podTotals(pod, 'limits')) {
    if (name === 'cpu' || name === 'memory' || name === 'ephemeral-storage') usage.set(`limits.${name}`, amount);
  }
  return usage;
}

const isTerminating = (pod: Pod): boolean => (pod.spec?.activeDeadlineSeconds ?? -1) >= 0;

const pods: Evaluator = {
  handles: (request) => {
    if (request.subresource === 'resize') return request.operation === 'UPDATE';
    if (request.subresource !== '') return false;
    if (request.operation === 'CREATE') return true;
    return request.operation === 'UPDATE' && isTerminating(request.object as Pod) !== isTerminating(request.oldObject as Pod);
  },
  counts: (name) => podNames.has(name) || name.startsWith(hugePages) || name.startsWith(requests + hugePages) || isExtended(name),
  usage: (object, nowMs) => podUsage(object as Pod, nowMs),
  matchesScope: (selector, object) => podMatchesScope(selector, object as Pod),
  problem: (required, object) => podConstraintProblem(required, object as Pod),
};

function nodePorts({ spec }: Service): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  return spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort).length : ports.length;
}

const serviceNames = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers']);
const services: Evaluator = {
  handles: writes,
  counts: (name) => serviceNames.has(name),
  usage: (object) => {
    const service = object as Service;
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.nodeports', quantityOf(nodePorts(service))],
      ['services.loadbalancers', service.spec?.type === 'LoadBalancer' ? one : zeroQuantity],
    ]);
  },
  matchesScope: never,
};

const classSuffix = '.storageclass.storage.k8s.io/';
const claimResources = ['persistentvolumeclaims', 'requests.storage'];

const storageOf = ({ spec, status }: PersistentVolumeClaim): Quantity | undefined => {
  const asked = spec?.resources?.requests?.storage;
  if (asked === undefined) return undefined;
  const wanted = parseQuantity(asked).roundUp(0);
  const allocated = status?.allocatedResources?.storage;
  const had = allocated === undefined ? undefined : parseQuantity(allocated).roundUp(0);
  return had && had.compare(wanted) > 0 ? had : wanted;
};

function attributesClasses({ spec, status }: PersistentVolumeClaim): string[] {
  return [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name) => name !== undefined && name !== '') as string[];
}

const claims: Evaluator = {
  handles: (request) => {
    if (request.subresource !== 'status') return writes(request);
    const now = request.object as PersistentVolumeClaim;
    const old = request.oldObject as PersistentVolumeClaim;
    return (
      now.status?.allocatedResources?.storage !== old.status?.allocatedResources?.storage ||
      attributesClasses(now).sort().join() !== attributesClasses(old).sort().join()
    );
  },
  counts: (name) =>
    name === 'count/persistentvolumeclaims' ||
    claimResources.includes(name) ||
    claimResources.some((resource) => name.endsWith(classSuffix + resource)),
  usage: (object) => {
    const claim = object as PersistentVolumeClaim;
    const className =
      claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? claim.spec?.storageClassName ?? '';
    const storage = storageOf(claim);
    const usage: Amounts = new Map([
      ['count/persistentvolumeclaims', one],
      ['persistentvolumeclaims', one],
    ]);
    if (storage) usage.set('requests.storage', storage);
    if (className !== '') {
      usage.set(`${className}${classSuffix}persistentvolumeclaims`, one);
      if (storage) usage.set(`${className}${classSuffix}requests.storage`, storage);
    }
    return usage;
  },
  matchesScope: ({ scopeName, matches }, object) => {
    if (scopeName !== 'VolumeAttributesClass') return false;
    const names = attributesClasses(object as PersistentVolumeClaim);
    return names.length === 0 ? matches(undefined) : names.some((name) => matches(name));
  },
};

const perClass = '.deviceclass.resource.k8s.io/devices';
/** The number of devices that a request for all of a class counts as (resource.k8s.io AllocationResultsMaxSize). */
const allDevices = 32;

type DeviceAsk = { deviceClassName: string; allocationMode?: string; count?: number };

const devices = ({ allocationMode, count = 0 }: DeviceAsk): number => (allocationMode === 'All' ? allDevices : count);

function claimUsage({ spec }: ResourceClaim): Amounts {
  const totals = new Map<string, number>();
  for (const { exactly, firstAvailable } of spec.devices?.requests ?? []) {
    const largest = new Map<string, number>();
    for (const ask of [...(exactly ? [exactly] : []), ...(firstAvailable ?? [])]) {
      largest.set(ask.deviceClassName, Math.max(largest.get(ask.deviceClassName) ?? 0, devices(ask)));
    }
    for (const [name, count] of largest) totals.set(name, (totals.get(name) ?? 0) + count);
  }
  const usage: Amounts = new Map([['count/resourceclaims.resource.k8s.io', one]]);
  for (const [name, count] of totals) usage.set(name + perClass, quantityOf(count));
  return usage;
}

const resourceClaims: Evaluator = {
  handles: writes,
  counts: (name) => name === 'count/resourceclaims.resource.k8s.io' || name.endsWith(perClass),
  usage: (object) => claimUsage(asKind<ResourceClaim>(object)),
  matchesScope: never,
};

const counted = (names: readonly string[]): Evaluator => ({
  handles: creates,
  counts: (name) => names.includes(name),
  usage: () => new Map(names.map((name) => [name, one])),
  matchesScope: never,
});

const aliases = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

const special: Readonly<Record<string, Evaluator>> = {
  '/pods': pods,
  '/services': services,
  '/persistentvolumeclaims': claims,
  'resource.k8s.io/resourceclaims': resourceClaims,
};

/** How a resource is counted: the ones with rules of their own, else by number. */
export function evaluatorOf(group: string, resource: string): Evaluator {
  const count = countName(group, resource);
  return special[`${group}/${resource}`] ?? counted(group === '' && aliases.has(resource) ? [count, resource] : [count]);
}
