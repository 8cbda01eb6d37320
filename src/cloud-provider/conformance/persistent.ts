// A provider as the controllers use it: what fails is tried again. With it the suite also runs against a cloud of which every fifth call fails.
import type { Clock } from '#utils';
import { isImplementedElsewhere, isInstanceNotFound, isNotImplemented, retryAfterOf } from '../errors.ts';
import type { CloudProvider } from '../types.ts';

export interface PersistentOptions {
  /** Tries of one call, the first one included. Default 20. */
  attemptsMax?: number;
  /** Failures that are handed on at once, as those that a case asked for. */
  passes?(error: unknown): boolean;
  /** That of the provider. With it a call comes again as the controllers would repeat it: when it asks to (`retryAfter`), or a while later; without it at once. */
  clock?: Pick<Clock, 'sleep'>;
}

const attemptsMaxDefault = 20;
/** The first pause of the service controller after a failure. */
const backOffMs = 5_000;
const parts = {
  instancesV2: ['instanceExists', 'instanceShutdown', 'instanceMetadata'],
  loadBalancer: ['getLoadBalancer', 'ensureLoadBalancer', 'updateLoadBalancer', 'ensureLoadBalancerDeleted'],
  routes: ['listRoutes', 'createRoute', 'deleteRoute'],
} as const;
type Part = keyof typeof parts;
type AnyCall = (...args: unknown[]) => unknown;

const hasMeaning = (error: unknown): boolean =>
  isInstanceNotFound(error) || isNotImplemented(error) || isImplementedElsewhere(error);

/** Wraps a provider so that each call is repeated until it succeeds, fails in a way that has a meaning, or has failed too often. */
export function persistent(cloud: CloudProvider, options: PersistentOptions = {}): CloudProvider {
  const { attemptsMax = attemptsMaxDefault, passes = () => false, clock } = options;
  const again =
    (call: AnyCall): AnyCall =>
    async (...args) => {
      for (let tries = 1; ; tries++)
        try {
          return await call(...args);
        } catch (error) {
          if (tries >= attemptsMax || hasMeaning(error) || passes(error)) throw error;
          await clock?.sleep(retryAfterOf(error) ?? backOffMs);
        }
    };
  const persistentPart = (part: Part, inner: object): object => {
    const calls = Object.fromEntries(parts[part].map((name) => [name, again((Reflect.get(inner, name) as AnyCall).bind(inner))]));
    return part === 'loadBalancer'
      ? { ...calls, getLoadBalancerName: (Reflect.get(inner, 'getLoadBalancerName') as AnyCall).bind(inner) }
      : calls;
  };
  const changed = (Object.keys(parts) as Part[]).flatMap((part) => {
    const inner = cloud[part];
    return inner ? [[part, persistentPart(part, inner)]] : [];
  });
  return { ...cloud, ...(Object.fromEntries(changed) as Partial<CloudProvider>), hasClusterId: () => cloud.hasClusterId() };
}
