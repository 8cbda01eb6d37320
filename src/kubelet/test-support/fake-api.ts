// A small in-memory API for unit tests: objects by path, watches, status patches merged naively. The real one is used in test/component.
import type { KubeList, KubeObject } from '#apimachinery/meta';
import { StatusError } from '#apimachinery/errors';
import type { ApiCall, Transport, WatchCall, WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';

type Json = Record<string, unknown>;
type Handler = (event: WatchEvent) => void;

const mergeKeys: Record<string, string> = { conditions: 'type', addresses: 'type', podIPs: 'ip', hostIPs: 'ip' };

const fail = (code: number, reason: string, message: string): StatusError =>
  new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message } as never);

function mergeList(old: Json[], patch: Json[], key: string): Json[] {
  if (patch.some((item) => item['$patch'] === 'replace')) return patch.filter((item) => item['$patch'] === undefined);
  const merged = [...old];
  for (const item of patch) {
    const index = merged.findIndex((candidate) => candidate[key] === item[key]);
    if (item['$patch'] === 'delete') {
      if (index >= 0) merged.splice(index, 1);
    } else if (index >= 0) merged[index] = merge(merged[index] as Json, item);
    else merged.push(item);
  }
  return merged;
}

function merge(old: Json, patch: Json): Json {
  const result = { ...old };
  for (const [name, value] of Object.entries(patch)) {
    const before = result[name];
    const key = mergeKeys[name];
    if (name.startsWith('$')) continue;
    if (value === null) delete result[name];
    else if (Array.isArray(value) && key && Array.isArray(before))
      result[name] = mergeList(before as Json[], value as Json[], key);
    else if (typeof value === 'object' && !Array.isArray(value) && typeof before === 'object' && before !== null)
      result[name] = merge(before as Json, value as Json);
    else result[name] = value;
  }
  return result;
}

export class FakeApi implements Transport {
  readonly objects = new Map<string, KubeObject>();
  readonly calls: ApiCall[] = [];
  readonly #watches = new Set<{ resource: string; selector: string; handler: Handler }>();
  #revision = 0;

  async call<T>(call: ApiCall): Promise<T> {
    this.calls.push(call);
    await Promise.resolve();
    const path = `${call.resource}/${call.namespace ?? ''}/${call.name ?? (call.object as KubeObject | undefined)?.metadata.name ?? ''}`;
    const known = this.objects.get(path);
    if (call.verb === 'list') return this.#list(call.resource, call.options?.fieldSelector ?? '') as T;
    if (call.verb === 'create') {
      if (call.subresource) return {} as T;
      if (known) throw fail(409, 'AlreadyExists', 'already exists');
      const object = structuredClone(call.object) as KubeObject;
      object.metadata.uid ??= `uid-${object.metadata.name}`;
      return this.#store(path, call.resource, 'ADDED', object) as T;
    }
    if (known === undefined) throw fail(404, 'NotFound', 'not found');
    if (call.verb === 'get') return known as T;
    if (call.verb === 'delete') return this.#delete(path, call, known) as T;
    if (call.verb === 'update')
      return this.#store(path, call.resource, 'MODIFIED', structuredClone(call.object) as KubeObject) as T;
    const body = structuredClone(call.patch?.body) as Json;
    if (body['metadata']) delete (body['metadata'] as Json)['uid'];
    return this.#store(path, call.resource, 'MODIFIED', merge(known as unknown as Json, body) as unknown as KubeObject) as T;
  }
  async watch<T extends KubeObject>(call: WatchCall): Promise<WatchStream<T>> {
    const watch = { resource: call.resource, selector: call.options?.fieldSelector ?? '', handler: (() => {}) as Handler };
    return {
      subscribe: (handler) => {
        watch.handler = handler as Handler;
        this.#watches.add(watch);
      },
      stop: () => void this.#watches.delete(watch),
    };
  }
  async raw(): Promise<{ status: number; text: string }> {
    return { status: 404, text: '' };
  }
  close(): void {}

  get<T extends KubeObject>(resource: string, namespace: string, name: string): T | undefined {
    return this.objects.get(`${resource}/${namespace}/${name}`) as T | undefined;
  }
  put(resource: string, object: KubeObject): void {
    const path = `${resource}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    this.#store(path, resource, this.objects.has(path) ? 'MODIFIED' : 'ADDED', structuredClone(object));
  }

  #delete(path: string, call: ApiCall, known: KubeObject): KubeObject {
    const grace = call.deleteOptions?.gracePeriodSeconds;
    if (call.resource === 'pods' && grace !== 0) {
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      const metadata = { ...known.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace ?? graceOf(known) };
      return this.#store(path, call.resource, 'MODIFIED', { ...known, metadata });
    }
    this.objects.delete(path);
    this.#tell(call.resource, 'DELETED', known);
    return known;
  }
  #list(resource: string, selector: string): KubeList {
    const items = [...this.objects].filter(([path, object]) => path.startsWith(`${resource}/`) && selected(object, selector));
    return { metadata: { resourceVersion: String(this.#revision) }, items: items.map(([, object]) => object) };
  }
  #store(path: string, resource: string, type: 'ADDED' | 'MODIFIED', object: KubeObject): KubeObject {
    object.metadata.resourceVersion = String(++this.#revision);
    this.objects.set(path, object);
    this.#tell(resource, type, object);
    return object;
  }
  #tell(resource: string, type: WatchEvent['type'], object: KubeObject): void {
    for (const watch of this.#watches)
      if (watch.resource === resource && selected(object, watch.selector)) queueMicrotask(() => watch.handler({ type, object }));
  }
}

function selected(object: KubeObject, selector: string): boolean {
  const [field, value] = selector.split('=');
  if (field === 'metadata.name') return object.metadata.name === value;
  if (field === 'spec.nodeName') return (object as { spec?: { nodeName?: string } }).spec?.nodeName === value;
  return true;
}

const graceOf = (object: KubeObject): number =>
  (object as { spec?: { terminationGracePeriodSeconds?: number } }).spec?.terminationGracePeriodSeconds ?? 30;
