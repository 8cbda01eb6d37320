// The rest of the cluster through informers, with what the scheduler has decided but the API does not show yet laid over it
// (upstream plugins/volumebinding assume_cache).
import { keyOf, type KubeObject } from '#apimachinery/meta';
import { isNotFound } from '#apimachinery/errors';
import type { Informer, InformerFactory, KubeClient } from '#client';
import type { Logger } from '#utils';
import type { ClusterEvent, ClusterView, ViewKind, ViewKinds } from '../framework/index.ts';
import { viewResources } from './resources.ts';

interface Assumed {
  readonly object: KubeObject;
  /** Version of the object it was made from: any other seen since replaces it. */
  readonly basedOn: string | undefined;
  /** It is written in several steps: what the API shows between them does not replace it. */
  readonly isUnderWay: boolean;
}

export class InformerView implements ClusterView {
  readonly #informers = new Map<ViewKind, Informer<KubeObject>>();
  readonly #assumed = new Map<ViewKind, Map<string, Assumed>>();
  readonly #onEvent: (event: ClusterEvent) => void;

  constructor(onEvent: (event: ClusterEvent) => void) {
    this.#onEvent = onEvent;
  }
  /** Watches what the server has: an API that is switched off is as good as empty. */
  async start(client: KubeClient, informers: InformerFactory, logger: Logger): Promise<void> {
    const kinds = Object.keys(viewResources) as ViewKind[];
    const served = await Promise.all(kinds.map((kind) => isServed(client, kind, logger)));
    kinds.forEach((kind, i) => {
      if (served[i]) this.#watch(kind, informers);
    });
  }
  #watch(kind: ViewKind, informers: InformerFactory): void {
    const informer = informers.informer<KubeObject>(viewResources[kind]);
    this.#informers.set(kind, informer);
    informer.addHandler({
      onAdd: (now) => this.#onEvent({ resource: kind, actions: ['Add'], now }),
      onUpdate: (now, old) => {
        this.#confirm(kind, now);
        this.#onEvent({ resource: kind, actions: ['Update'], old, now });
      },
      onDelete: (old) => {
        this.#confirm(kind, old, true);
        this.#onEvent({ resource: kind, actions: ['Delete'], old });
      },
    });
  }
  get<K extends ViewKind>(kind: K, namespace: string, name: string): ViewKinds[K] | undefined {
    const assumed = this.#assumed.get(kind)?.get(namespace === '' ? name : `${namespace}/${name}`);
    return (assumed?.object ?? this.#informers.get(kind)?.lister.get(namespace, name)) as ViewKinds[K] | undefined;
  }
  list<K extends ViewKind>(kind: K, namespace?: string): readonly ViewKinds[K][] {
    const known = this.#informers.get(kind)?.lister.list(namespace) ?? [];
    const assumed = this.#assumed.get(kind);
    const seen = assumed?.size ? known.map((object) => assumed.get(keyOf(object.metadata))?.object ?? object) : known;
    return seen as ViewKinds[K][];
  }
  isUnderWay(kind: ViewKind, namespace: string, name: string): boolean {
    return this.#assumed.get(kind)?.get(namespace === '' ? name : `${namespace}/${name}`)?.isUnderWay === true;
  }
  /** Shows `object` until the API shows another version than the one it was made from; while it is under way, until it is `written`. */
  assume(kind: ViewKind, object: KubeObject, isUnderWay = false): void {
    const assumed = this.#assumed.get(kind) ?? new Map<string, Assumed>();
    const basedOn = object.metadata.resourceVersion;
    this.#assumed.set(kind, assumed.set(keyOf(object.metadata), { object, basedOn, isUnderWay }));
  }
  /** What was under way is written: it is shown until the API shows it, or something newer. */
  written(kind: ViewKind, object: KubeObject): void {
    const key = keyOf(object.metadata);
    if (this.#assumed.get(kind)?.get(key)?.isUnderWay !== true) return;
    const seen = this.#informers.get(kind)?.lister.get(object.metadata.namespace ?? '', object.metadata.name ?? '');
    if (seen !== undefined && isAsNew(seen, object)) this.#assumed.get(kind)?.delete(key);
    else this.#assumed.get(kind)?.set(key, { object, basedOn: undefined, isUnderWay: false });
    this.#onEvent({ resource: kind, actions: ['Update'], ...(seen && { old: seen }), now: object });
  }
  forget(kind: ViewKind, object: KubeObject): void {
    this.#assumed.get(kind)?.delete(keyOf(object.metadata));
  }
  #confirm(kind: ViewKind, now: KubeObject, isGone = false): void {
    const key = keyOf(now.metadata);
    const assumed = this.#assumed.get(kind)?.get(key);
    if (assumed === undefined || (assumed.isUnderWay && !isGone)) return;
    const isOver =
      assumed.basedOn === undefined ? isAsNew(now, assumed.object) : assumed.basedOn !== now.metadata.resourceVersion;
    if (isOver || isGone) this.#assumed.get(kind)?.delete(key);
  }
}

const versionOf = ({ metadata }: KubeObject): bigint =>
  /^\d{1,20}$/.test(metadata.resourceVersion ?? '') ? BigInt(metadata.resourceVersion ?? '') : 0n;

/** Whether the first version is the second one or newer (KEP-5504: versions of one resource can be compared). */
const isAsNew = (one: KubeObject, other: KubeObject): boolean => versionOf(one) >= versionOf(other);

async function isServed(client: KubeClient, kind: ViewKind, logger: Logger): Promise<boolean> {
  try {
    await client.resource(viewResources[kind]).list({ limit: 1 });
    return true;
  } catch (error) {
    if (!isNotFound(error)) return true;
    logger.warn('resource is not served, taken as empty', { resource: viewResources[kind].resource });
    return false;
  }
}
