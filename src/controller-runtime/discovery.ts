// What an apiserver serves, read from its discovery documents (k8s.io/client-go/discovery): for loops over all resources.
import { parseApiVersion } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';

export interface DiscoveredResource {
  group: string;
  version: string;
  resource: string;
  kind: string;
  namespaced: boolean;
  verbs: readonly string[];
  /** Whether this is the version of the resource that the server prefers. */
  preferred: boolean;
}

export interface Discovery {
  resources: DiscoveredResource[];
  /** Group versions that could not be read, with the reason. */
  failed: { groupVersion: string; reason: string }[];
}

interface GroupDocument {
  name: string;
  versions: { groupVersion: string }[];
  preferredVersion?: { groupVersion: string };
}
interface ResourceDocument {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
}

export const supports = ({ verbs }: { verbs: readonly string[] }, ...wanted: string[]): boolean =>
  wanted.every((verb) => verbs.includes(verb));

async function document<T>(transport: Transport, path: string, signal?: AbortSignal): Promise<T> {
  const { status, text } = await transport.raw('GET', path, undefined, signal);
  if (status === 503) throw new StaleError();
  if (status !== 200) throw new Error(reasonOf(text) ?? `the server answered ${status}`);
  return JSON.parse(text) as T;
}

/** Throws an Error for what is no list of resources: another API server may have written it. */
function resourcesOf(list: unknown): ResourceDocument[] {
  const { resources } = (list ?? {}) as { resources?: unknown };
  const all: unknown[] = Array.isArray(resources) ? resources : [undefined];
  return all.map((one) => {
    const { name, kind, verbs, namespaced } = (one ?? {}) as Partial<Record<keyof ResourceDocument, unknown>>;
    const texts: unknown[] = [name, kind, ...(Array.isArray(verbs) ? verbs : [undefined])];
    if (texts.some((text) => typeof text !== 'string')) throw new Error('the answer is no list of resources');
    return { name, kind, verbs, namespaced: namespaced === true } as ResourceDocument;
  });
}

/** Another API server serves it, and does not answer. */
class StaleError extends Error {}

const reasonOf = (text: string): string | undefined => {
  try {
    return (JSON.parse(text) as { message?: string }).message;
  } catch {
    return undefined;
  }
};

/** Rejects when the list of groups cannot be read; a single group that fails is in `failed`. */
export async function readDiscovery(transport: Transport, signal?: AbortSignal): Promise<Discovery> {
  const { groups } = await document<{ groups: GroupDocument[] }>(transport, '/apis', signal);
  const preferredFirst = groups.flatMap(({ versions, preferredVersion }) => [
    ...versions.filter(({ groupVersion }) => groupVersion === preferredVersion?.groupVersion),
    ...versions.filter(({ groupVersion }) => groupVersion !== preferredVersion?.groupVersion),
  ]);
  const wanted = ['v1', ...preferredFirst.map(({ groupVersion }) => groupVersion)];
  const failed: Discovery['failed'] = [];
  const documents = await Promise.all(
    wanted.map(async (groupVersion) => {
      const path = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
      try {
        return resourcesOf(await document<unknown>(transport, path, signal));
      } catch (error) {
        const reason = error instanceof StaleError ? `stale GroupVersion discovery: ${groupVersion}` : (error as Error).message;
        failed.push({ groupVersion, reason });
        return [];
      }
    }),
  );
  const known = new Set<string>();
  const resources = documents.flatMap((list, index) => {
    const { group, version } = parseApiVersion(wanted[index] ?? '');
    return list
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, kind, namespaced, verbs }): DiscoveredResource => {
        const id = `${name}.${group}`;
        const preferred = !known.has(id);
        known.add(id);
        return { group, version, resource: name, kind, namespaced, verbs, preferred };
      });
  });
  return { resources, failed };
}

const latest = new WeakMap<object, { atMs: number; discovery: Promise<Discovery> }>();

/** What discovery says, asked at most once in `ageMaxMs` by all loops that share `owner`. */
export function sharedDiscovery(owner: object, transport: Transport, nowMs: number, ageMaxMs: number): Promise<Discovery> {
  const known = latest.get(owner);
  if (known && nowMs - known.atMs < ageMaxMs) return known.discovery;
  const discovery = readDiscovery(transport);
  const entry = { atMs: nowMs, discovery };
  latest.set(owner, entry);
  discovery.catch(() => {
    if (latest.get(owner) === entry) latest.delete(owner);
  });
  return discovery;
}
