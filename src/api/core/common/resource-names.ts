// Which resource names exist and what they allow (pkg/apis/core/helper).
import { parseQuantity } from '#apimachinery/quantity';
import { isQualifiedName } from '#apimachinery/validation';

const hugePages = 'hugepages-';
const requestsPrefix = 'requests.';

const compute = ['cpu', 'memory', 'ephemeral-storage'];
const counted = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const quota = new Set([
  ...compute,
  ...compute.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
  ...counted,
]);
const integers = new Set(counted);

export const isHugePageResourceName = (name: string): boolean => name.startsWith(hugePages);

const isQuotaHugePage = (name: string): boolean => name.startsWith(hugePages) || name.startsWith(requestsPrefix + hugePages);

/** Names without a domain, or in kubernetes.io. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePageResourceName(name);

export const isExtendedResourceName = (name: string): boolean =>
  !isNativeResource(name) && !name.startsWith(requestsPrefix) && isQualifiedName(requestsPrefix + name).length === 0;

export const isIntegerResourceName = (name: string): boolean => integers.has(name) || isExtendedResourceName(name);

export const isStandardContainerResourceName = (name: string): boolean => compute.includes(name) || isHugePageResourceName(name);

export const isStandardQuotaResourceName = (name: string): boolean => quota.has(name) || isQuotaHugePage(name);

export const isStandardResourceName = (name: string): boolean => isStandardQuotaResourceName(name) || name === 'storage';

/** Resources that may be set for a whole pod (KEP-2837). */
export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith(hugePages);

export const podLevelResources = ['cpu', 'hugepages-', 'memory'];

/** The amount is a whole number of pages of the size in the name. */
export function isHugePageDivisible(name: string, amount: string): boolean {
  try {
    const size = parseQuantity(name.slice(hugePages.length));
    if (size.sign <= 0 || size.milliValue() % 1000 !== 0) return false;
    return parseQuantity(amount).scaledBigInt(0) % size.scaledBigInt(0) === 0n;
  } catch {
    return false;
  }
}
