// ConfigMaps and Secrets that pods mount, each watched by name while a pod of the node refers to it, so that volumes change when they do
// (upstream pkg/kubelet/util/manager watch_based_manager.go).
import type { ConfigMap, Pod, Secret } from '#api/core/v1';
import { createInformerFactory, type InformerDeps, type InformerFactory, type Lister } from '#client';
import type { ObjectSource } from '../env/environment.ts';

export type ObjectKind = 'configmaps' | 'secrets';
type Watched = ConfigMap | Secret;

export interface ObjectRef {
  kind: ObjectKind;
  name: string;
}

/** What the volumes of a pod refer to. Pure. */
export function mountedObjects(pod: Pod): ObjectRef[] {
  const refs: ObjectRef[] = [];
  const add = (kind: ObjectKind, name: string | undefined): void => {
    if (name && !refs.some((ref) => ref.kind === kind && ref.name === name)) refs.push({ kind, name });
  };
  for (const { configMap, secret, projected } of pod.spec?.volumes ?? []) {
    add('configmaps', configMap?.name);
    add('secrets', secret?.secretName);
    for (const source of projected?.sources ?? []) {
      add('configmaps', source.configMap?.name);
      add('secrets', source.secret?.name);
    }
  }
  return refs;
}

interface Entry {
  informers: InformerFactory;
  lister: Lister<Watched>;
  pods: Set<string>;
}

export class ObjectCache implements ObjectSource {
  readonly #deps: InformerDeps;
  readonly #direct: ObjectSource;
  readonly #onChange: (podUid: string) => void;
  readonly #entries = new Map<string, Entry>();

  /** `direct` reads objects that are not watched (yet). `onChange` is called for each pod that uses an object whose version has changed. */
  constructor(deps: InformerDeps, direct: ObjectSource, onChange: (podUid: string) => void) {
    this.#deps = deps;
    this.#direct = direct;
    this.#onChange = onChange;
  }

  async configMap(namespace: string, name: string): Promise<ConfigMap> {
    return (this.#known('configmaps', namespace, name) as ConfigMap | undefined) ?? this.#direct.configMap(namespace, name);
  }
  async secret(namespace: string, name: string): Promise<Secret> {
    return (this.#known('secrets', namespace, name) as Secret | undefined) ?? this.#direct.secret(namespace, name);
  }

  /** Watches what the pod mounts, until it is forgotten. */
  watch(pod: Pod): void {
    const { uid = '', namespace = '' } = pod.metadata;
    for (const { kind, name } of mountedObjects(pod)) {
      const key = keyOf(kind, namespace, name);
      const entry = this.#entries.get(key) ?? this.#open(key, kind, namespace, name);
      entry.pods.add(uid);
    }
  }
  forget(podUid: string): void {
    for (const [key, { pods, informers }] of this.#entries) {
      if (!pods.delete(podUid) || pods.size > 0) continue;
      informers.stop();
      this.#entries.delete(key);
    }
  }
  close(): void {
    for (const { informers } of this.#entries.values()) informers.stop();
    this.#entries.clear();
  }

  #known(kind: ObjectKind, namespace: string, name: string): Watched | undefined {
    return this.#entries.get(keyOf(kind, namespace, name))?.lister.get(namespace, name);
  }
  #open(key: string, resource: ObjectKind, namespace: string, name: string): Entry {
    const informers = createInformerFactory(this.#deps);
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    const informer = informers.informer<Watched>({ group: '', version: 'v1', resource }, selection);
    const entry: Entry = { informers, lister: informer.lister, pods: new Set() };
    const tell = (object?: Watched): void => {
      for (const uid of entry.pods) this.#onChange(uid);
      if (object?.immutable) informers.stop();
    };
    informer.addHandler({ onAdd: tell, onUpdate: tell, onDelete: () => tell() });
    this.#entries.set(key, entry);
    informers.start();
    return entry;
  }
}

const keyOf = (kind: ObjectKind, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;
