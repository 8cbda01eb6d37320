// Finding the Services a pod backs without asking every Service: each is filed under one label its selector asks for.
import type { Pod, Service } from '#api/core/v1';
import { type KubeObject, keyOf } from '#apimachinery/meta';
import { endpointChanged, selectsPods } from '#component-helpers/endpoints';
import { setSelector } from '#component-helpers/workload';
import { deepEqual } from '#utils';
import { ownKey } from '../cache.ts';
import { type Cache, watch, type WatchDefinition } from '../types.ts';
import { pods, services } from './resources.ts';

const selectorIndex = 'selectorLabel';
/** Pods with more labels are held against the Services of their namespace one by one, where those are fewer. */
const manyLabels = 100;
const label = (namespace: string | undefined, key: string, value: string): string => `${namespace ?? ''}/${key}=${value}`;

const indexers = {
  [selectorIndex](service: Service): string[] {
    const [first] = Object.entries(service.spec?.selector ?? {});
    return first ? [label(service.metadata.namespace, ...first)] : [];
  },
};

/** Services whose selector matches these labels. */
function servicesOf({ namespace, labels = {} }: KubeObject['metadata'], cache: Cache): Service[] {
  const keys = Object.keys(labels);
  // An object may have tens of thousands of labels; then the namespace has fewer Services.
  const all = keys.length > manyLabels ? cache.list<Service>(services, namespace) : undefined;
  const candidates =
    all && all.length < keys.length
      ? all.filter(({ spec }) => Object.keys(spec?.selector ?? {}).length > 0)
      : keys.flatMap((key) => cache.byIndex<Service>(services, selectorIndex, label(namespace, key, labels[key] ?? '')));
  return candidates.filter((service) => setSelector(service.spec?.selector).matches(labels));
}

function keysOfPod(pod: Pod, old: Pod | undefined, cache: Cache): Iterable<string> {
  const relabelled = old && !deepEqual(pod.metadata.labels, old.metadata.labels);
  if (old && !relabelled && !endpointChanged(pod, old)) return [];
  const found = servicesOf(pod.metadata, cache);
  if (relabelled) found.push(...servicesOf(old.metadata, cache));
  return new Set(found.map(({ metadata }) => keyOf(metadata)));
}

/** Services, and the Services of every pod that changes in a way that counts. */
export const watchServices = (): WatchDefinition[] => [
  watch<Service>({ resource: services, keys: ownKey, indexers }),
  watch<Pod>({ resource: pods, keys: keysOfPod }),
];

/** The pods behind a Service, in a stable order. */
export function podsOfService(service: Service, cache: Cache): Pod[] {
  if (!selectsPods(service)) return [];
  const selector = setSelector(service.spec?.selector);
  const found = cache.list<Pod>(pods, service.metadata.namespace).filter((pod) => selector.matches(pod.metadata.labels));
  return found.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}
