// A provider is somebody's JavaScript: it may forget a `return`, lack a method, or throw before there is a promise. Here every answer of a provider is
// checked before anything follows from it, so that a wrong one never deletes a Node or clears a status.
import type { LoadBalancerStatus } from '#api/core/v1';
import type { CloudProvider, InstanceMetadata, Route } from './types.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';

/** What is wrong with an answer; undefined: nothing. */
type Check = (value: unknown) => string | undefined;

const boolean: Check = (value) => (typeof value === 'boolean' ? undefined : 'a boolean');
const text: Check = (value) => (typeof value === 'string' ? undefined : 'a string');

const isAddress = (value: unknown): boolean =>
  isObject(value) && typeof value['type'] === 'string' && typeof value['address'] === 'string';
const addresses: Check = (value) =>
  Array.isArray(value) && value.every(isAddress) ? undefined : 'a list of addresses, each with type and address';

function metadata(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return 'an object';
  const { nodeAddresses, additionalLabels = {} } = value as Partial<Record<keyof InstanceMetadata, unknown>>;
  if (addresses(nodeAddresses) !== undefined) return `an object whose nodeAddresses is ${addresses(nodeAddresses)}`;
  for (const field of ['providerId', 'instanceType', 'zone', 'region'] satisfies (keyof InstanceMetadata)[])
    if (!isText(value[field])) return `an object whose ${field} is a string`;
  const labels = isObject(additionalLabels) && Object.values(additionalLabels).every((label) => typeof label === 'string');
  return labels ? undefined : 'an object whose additionalLabels are strings by name';
}

function status(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const { ingress = [] } = isObject(value) ? (value as Partial<Record<keyof LoadBalancerStatus, unknown>>) : { ingress: 0 };
  return Array.isArray(ingress) && ingress.every(isObject) ? undefined : 'an object whose ingress is a list of objects';
}

const isRoute = (value: unknown): boolean => {
  if (!isObject(value)) return false;
  const { name, targetNode, destinationCidr, targetNodeAddresses = [] } = value as Partial<Record<keyof Route, unknown>>;
  return [name, targetNode, destinationCidr].every((one) => typeof one === 'string') && !addresses(targetNodeAddresses);
};
const routes: Check = (value) =>
  Array.isArray(value) && value.every(isRoute)
    ? undefined
    : 'a list of routes, each with name, targetNode and destinationCidr, and targetNodeAddresses where it has them';

const zone: Check = (value) =>
  isObject(value) && typeof value['failureDomain'] === 'string' && typeof value['region'] === 'string'
    ? undefined
    : 'an object with failureDomain and region';
const anything: Check = () => undefined;

const parts = {
  instancesV2: { instanceExists: boolean, instanceShutdown: boolean, instanceMetadata: metadata },
  instances: {
    nodeAddresses: addresses,
    nodeAddressesByProviderId: addresses,
    instanceId: text,
    instanceType: text,
    instanceTypeByProviderId: text,
    instanceExistsByProviderId: boolean,
    instanceShutdownByProviderId: boolean,
  },
  zones: { getZoneByProviderId: zone, getZoneByNodeName: zone },
  loadBalancer: {
    getLoadBalancer: status,
    ensureLoadBalancer: status,
    updateLoadBalancer: anything,
    ensureLoadBalancerDeleted: anything,
  },
  routes: { listRoutes: routes, createRoute: anything, deleteRoute: anything },
} satisfies Partial<Record<keyof CloudProvider, Record<string, Check>>>;
type Part = keyof typeof parts;

/** A part of a provider in which an answer of the wrong shape, and an error thrown before there is a promise, become rejections. */
function checkedPart(part: Part, inner: object): object {
  const checked: Record<string, unknown> = {};
  for (const [method, check] of Object.entries<Check>(parts[part]))
    checked[method] = async (...args: unknown[]) => {
      const call: unknown = Reflect.get(inner, method);
      if (typeof call !== 'function') throw new TypeError(`the provider has no ${part}.${method}`);
      const answer: unknown = await Reflect.apply(call, inner, args);
      const wanted = check(answer);
      if (wanted !== undefined) throw new TypeError(`the provider's ${part}.${method} must answer with ${wanted}`);
      return answer ?? undefined;
    };
  return over(inner, (key) => checked[key]);
}

/** `inner`, but for what `instead` has. Not a proxy of `inner` itself, which may be frozen. */
const over = (inner: object, instead: (key: string) => unknown): object =>
  new Proxy(
    {},
    {
      get(_target, key): unknown {
        const value: unknown = (typeof key === 'string' ? instead(key) : undefined) ?? Reflect.get(inner, key);
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(inner) : value;
      },
      has: (_target, key) => Reflect.has(inner, key),
    },
  );

const isPart = (key: string): key is Part => Object.hasOwn(parts, key);

/** Wraps a provider so that its answers are what `CloudProvider` says: an answer that is not becomes a rejection that names the method. */
export function checkedProvider(cloud: CloudProvider): CloudProvider {
  const made = new WeakMap<object, object>();
  return over(cloud, (key) => {
    const inner: unknown = isPart(key) ? cloud[key] : undefined;
    if (!isPart(key) || typeof inner !== 'object' || inner === null) return undefined;
    const known = made.get(inner) ?? checkedPart(key, inner);
    made.set(inner, known);
    return known;
  }) as CloudProvider;
}

/** What keeps `value` from being a provider, for its author; undefined: nothing. */
export function providerProblem(value: unknown): string | undefined {
  if (!isObject(value) || typeof value['hasClusterId'] !== 'function')
    return 'its create must give an object with hasClusterId()';
  for (const part of Object.keys(parts) as Part[]) {
    const inner = value[part];
    if (inner === undefined || inner === null) continue;
    if (!isObject(inner)) return `its ${part} must be an object of methods`;
    for (const method of Object.keys(parts[part]))
      if (typeof inner[method] !== 'function') return `it offers ${part}, but has no ${part}.${method}`;
  }
  return controllersProblem(value['controllers']);
}

function controllersProblem(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return 'its controllers must be a list';
  for (const one of value as unknown[]) {
    if (!isObject(one) || typeof one['name'] !== 'string' || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(one['name']))
      return 'each of its controllers must have a name of lower case letters, digits and dashes';
    for (const method of ['view', 'reconcile'])
      if (typeof one[method] !== 'function') return `its controller ${one['name']} has no ${method}`;
    for (const list of ['rights', 'watches'])
      if (!Array.isArray(one[list])) return `its controller ${one['name']} has no list of ${list}`;
  }
  return undefined;
}
