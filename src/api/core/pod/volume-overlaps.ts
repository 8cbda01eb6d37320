// Files of one volume that would hide each other (pkg/api/pod, warningsForOverlappingVirtualPaths).
import type { Volume, VolumeProjection } from '#api/core/v1';
import { quote, withoutTrailing } from '#utils';
import { isEmptyMap } from '../../common/report.ts';

interface Place {
  path: string;
  source: string;
}

const text = ({ path, source }: Place): string => (source === '' ? quote(path) : `${quote(path)} (${source})`);

const places = (items: { path: string }[] | undefined, source = ''): Place[] =>
  (items ?? []).map(({ path }) => ({ path: path ?? '', source }));

/** No more than this are reported: an answer has room for some of them only, and n equal paths overlap in n * n / 2 ways. */
const collisionsMax = 100;

/** A name on the way of paths: which places end here, and which go on, by their numbers. */
interface Way {
  here: number[];
  beyond: number[];
  next: Map<string, Way>;
}

const newWay = (): Way => ({ here: [], beyond: [], next: new Map() });

/** Each place with those before it that it is in, or that are in it. */
function collisions(list: Place[]): string[] {
  const root = newWay();
  const known: Place[] = [];
  const found: string[] = [];
  for (const { path: written, source } of list) {
    const place = { path: withoutTrailing(written, '/'), source };
    if (place.path === '') continue;
    const others = enter(root, place.path, known.length);
    known.push(place);
    for (const other of others.sort((a, b) => a - b)) {
      if (found.length === collisionsMax) return found;
      found.push(`${text(place)} with ${text(known[other] as Place)}`);
    }
  }
  return found;
}

/** Notes the way of a path; gives the numbers of those that it meets. */
function enter(root: Way, path: string, number: number): number[] {
  const met: number[] = [];
  let way = root;
  for (const name of path.split('/')) {
    if (way !== root) way.beyond.push(number);
    const next = way.next.get(name) ?? newWay();
    way.next.set(name, next);
    way = next;
    for (const other of way.here) met.push(other);
  }
  way.here.push(number);
  return [...met, ...way.beyond];
}

function projectedPlaces(source: VolumeProjection): Place[] {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  if (configMap?.items) return places(configMap.items, `ConfigMap ${quote(configMap.name ?? '')}`);
  if (secret?.items) return places(secret.items, `Secret ${quote(secret.name ?? '')}`);
  if (downwardAPI?.items) return places(downwardAPI.items, 'DownwardAPI');
  return serviceAccountToken ? [{ path: serviceAccountToken.path, source: 'ServiceAccountToken' }] : [];
}

export function overlapWarnings(volumes: Volume[]): string[] {
  return volumes.flatMap(({ name, configMap, secret, downwardAPI, projected }) => {
    const warn = (kind: string, list: Place[]): string[] =>
      collisions(list).map((one) => `volume ${quote(name)} (${kind}): overlapping paths: ${one}`);
    const empty = (projected?.sources ?? [])
      .filter(isEmptyMap)
      .map(() => `volume ${quote(name)} (Projected) has no sources provided`);
    return [
      ...warn(`ConfigMap ${quote(configMap?.name ?? '')}`, places(configMap?.items)),
      ...warn(`Secret ${quote(secret?.secretName ?? '')}`, places(secret?.items)),
      ...warn('DownwardAPI', places(downwardAPI?.items)),
      ...empty,
      ...warn('Projected', (projected?.sources ?? []).flatMap(projectedPlaces)),
    ];
  });
}
