// The files of configMap, secret, downwardAPI and projected volumes, as data (upstream pkg/volume/{configmap,secret,downwardapi,projected}).
import type { ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret } from '#api/core/v1';
import { type DownwardContext, fieldValue, resourceValue } from '../env/downward.ts';

export interface PayloadFile {
  data: Uint8Array;
  mode: number;
  /** The user it belongs to; absent: root. */
  uid?: number;
}
/** The files that a volume is to have, by their paths in it. */
export type Payload = Map<string, PayloadFile>;

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const binary = (value: string): Uint8Array => Uint8Array.from(atob(value), (char) => char.charCodeAt(0));

/** The path, where it stays inside the volume. Throws for one that leads out of it. */
export function safePath(path: string): string {
  const parts = path.split('/');
  if (path === '' || path.startsWith('/') || parts.includes('..') || (parts[0] ?? '').startsWith('..'))
    throw new Error(`invalid path: must be relative and must not contain '..': ${path}`);
  return path;
}

interface Source {
  values: ReadonlyMap<string, Uint8Array>;
  items: readonly KeyToPath[] | undefined;
  mode: number;
  optional: boolean;
  /** What a missing key is called. */
  references: string;
}

/** All keys, or the chosen ones under their paths. Throws for a chosen key that is absent and not optional. */
function choose({ values, items, mode, optional, references }: Source): Payload {
  const payload: Payload = new Map();
  if (!items?.length) {
    for (const [key, data] of values) payload.set(safePath(key), { data, mode });
    return payload;
  }
  for (const { key, path, mode: own } of items) {
    const data = values.get(key);
    if (data !== undefined) payload.set(safePath(path), { data, mode: own ?? mode });
    else if (!optional) throw new Error(`${references} key: ${key}`);
  }
  return payload;
}

export interface ChoiceOptions {
  items?: readonly KeyToPath[];
  mode: number;
  optional?: boolean;
}

export function configMapPayload(map: ConfigMap, { items, mode, optional = false }: ChoiceOptions): Payload {
  const values = new Map(Object.entries(map.data ?? {}).map(([key, value]) => [key, text(value)]));
  for (const [key, value] of Object.entries(map.binaryData ?? {})) values.set(key, binary(value));
  return choose({ values, items, mode, optional, references: 'configmap references non-existent config' });
}

export function secretPayload(secret: Secret, { items, mode, optional = false }: ChoiceOptions): Payload {
  const values = new Map(Object.entries(secret.data ?? {}).map(([key, value]) => [key, binary(value)]));
  return choose({ values, items, mode, optional, references: 'references non-existent secret' });
}

export function downwardPayload(
  pod: Pod,
  files: readonly DownwardAPIVolumeFile[] | undefined,
  defaultMode: number,
  context: DownwardContext,
): Payload {
  const payload: Payload = new Map();
  for (const { path, fieldRef, resourceFieldRef, mode = defaultMode } of files ?? []) {
    const value = fieldRef
      ? fieldValue(fieldRef, pod, context)
      : resourceFieldRef
        ? resourceValue(resourceFieldRef, pod, undefined, context)
        : '';
    payload.set(safePath(path), { data: text(value), mode });
  }
  return payload;
}

/** The one user that all containers of the pod run as, so far as the pod says so (upstream FsUserFrom). */
function onlyUser({ spec }: Pod): number | undefined {
  const users = new Set(
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(
      ({ securityContext }) => securityContext?.runAsUser ?? spec?.securityContext?.runAsUser,
    ),
  );
  return users.size === 1 ? [...users][0] : undefined;
}

/** A token is for the user or the group of its pod alone, when the pod has one; `mode` is for all other pods. */
export function tokenPayload(pod: Pod, path: string, token: string, mode: number): Payload {
  const uid = onlyUser(pod);
  const own = uid !== undefined || pod.spec?.securityContext?.fsGroup !== undefined;
  return new Map([[safePath(path), { data: text(token), mode: own ? 0o600 : mode, ...(uid !== undefined && { uid }) }]]);
}
