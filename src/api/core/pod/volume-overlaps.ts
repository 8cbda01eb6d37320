// Files of one volume that would hide each other (pkg/api/pod, warningsForOverlappingVirtualPaths).
import type { Volume, VolumeProjection } from '#api/core/v1';
import { quote } from '#utils';
import { isEmptyMap } from '../../common/report.ts';

interface Place {
  path: string;
  source: string;
}

const text = ({ path, source }: Place): string => (source === '' ? quote(path) : `${quote(path)} (${source})`);

const places = (items: { path: string }[] | undefined, source = ''): Place[] =>
  (items ?? []).map(({ path }) => ({ path: path ?? '', source }));

function collisions(list: Place[]): string[] {
  const known: Place[] = [];
  const found: string[] = [];
  for (const { path: written, source } of list) {
    const place = { path: written.replace(/\/+$/, ''), source };
    for (const other of place.path === '' ? [] : known) {
      const inside = `${other.path}/`.startsWith(`${place.path}/`) || `${place.path}/`.startsWith(`${other.path}/`);
      if (other.path !== '' && inside) found.push(`${text(place)} with ${text(other)}`);
    }
    known.push(place);
  }
  return found;
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
