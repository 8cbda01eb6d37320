// What the apiserver told, kept to be checked: the versions of every object in one order, each write at one moment between its request and its
// answer, reads never older than what was answered before them, watches that skip and repeat nothing, also over reconnections.
import { type GroupVersionResource, type KubeObject, keyOf } from '#apimachinery/meta';
import type { ApiCall, WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import type { KubeClient } from '#client';

const versionOf = (object: KubeObject | undefined): number => Number(object?.metadata?.resourceVersion);
const idOf = ({ group, resource }: { group: string; resource: string }): string => `${resource}.${group}`;
const isWrite = (verb: string): boolean => verb === 'create' || verb === 'update' || verb === 'patch';

/** One resource, watched from the beginning, and by another that loses its connection all the time. */
class Followed {
  readonly live = new Map<string, KubeObject>();
  /** `version type key` of all events. */
  readonly events: string[] = [];
  /** The version of an object before this one. */
  readonly previous = new Map<string, number>();
  readonly resumed: string[] = [];
  last = 0;
  #second: WatchStream | undefined;

  readonly #resource: GroupVersionResource;
  readonly #client: KubeClient;
  readonly #complain: (text: string) => void;

  constructor(resource: GroupVersionResource, client: KubeClient, complain: (text: string) => void) {
    this.#resource = resource;
    this.#client = client;
    this.#complain = complain;
  }
  async open(): Promise<void> {
    const list = await this.#client.resource(this.#resource).list();
    for (const object of list.items) this.live.set(keyOf(object.metadata), object);
    this.last = Number(list.metadata.resourceVersion);
    const stream = await this.#client.resource(this.#resource).watch({ resourceVersion: `${this.last}` });
    stream.subscribe(
      (event) => this.#first(event),
      (error) => error && this.#complain(`the watch of ${this.#resource.resource} ended: ${error.message}`),
    );
    await this.reconnect();
  }
  /** The second watch goes on where it was. */
  async reconnect(): Promise<void> {
    this.#second?.stop();
    const from = this.resumed.length === 0 ? this.last : Number(this.resumed.at(-1)?.split(' ')[0]);
    const stream = await this.#client.resource(this.#resource).watch({ resourceVersion: `${from}` });
    stream.subscribe(
      (event) => this.resumed.push(textOf(event)),
      () => {},
    );
    this.#second = stream;
  }
  #first(event: WatchEvent): void {
    const { type, object } = event;
    const key = keyOf(object.metadata);
    const version = versionOf(object);
    if (version <= this.last) this.#complain(`${key}: version ${version} was watched after ${this.last}`);
    this.last = version;
    this.previous.set(`${key} ${version}`, versionOf(this.live.get(key)));
    this.events.push(textOf(event));
    if ((type === 'ADDED') === this.live.has(key))
      this.#complain(`${key}: ${type}, while it was ${type === 'ADDED' ? '' : 'not '}there`);
    if (type === 'DELETED') this.live.delete(key);
    else this.live.set(key, object);
  }
}

const textOf = ({ type, object }: WatchEvent): string => `${versionOf(object)} ${type} ${keyOf(object.metadata)}`;

export class History {
  readonly complaints: string[] = [];
  readonly #followed = new Map<string, Followed>();
  readonly #client: KubeClient;
  /** The newest version that was answered. */
  #answered = 0;
  readonly #answeredOf = new Map<string, number>();
  /** Updates that named the version they change. */
  readonly #updates: { id: string; key: string; base: number; version: number }[] = [];

  constructor(client: KubeClient) {
    this.#client = client;
  }
  async follow(resources: readonly GroupVersionResource[]): Promise<void> {
    for (const resource of resources) {
      const followed = new Followed(resource, this.#client, (text) => this.complaints.push(text));
      await followed.open();
      this.#followed.set(idOf(resource), followed);
    }
  }
  /** All objects of a followed resource. */
  objects<T extends KubeObject>(resource: GroupVersionResource): T[] {
    return [...(this.#followed.get(idOf(resource))?.live.values() ?? [])] as T[];
  }
  get length(): number {
    return [...this.#followed.values()].reduce((sum, { events }) => sum + events.length, 0);
  }
  /** A request reached the apiserver; what it gives is to be called with the answer. */
  request(call: ApiCall): (answer: unknown) => void {
    const { verb, subresource, options } = call;
    if (subresource && subresource !== 'status') return () => {};
    const id = idOf(call);
    const before = this.#answered;
    const keyAsked = call.namespace ? `${call.namespace}/${call.name}` : (call.name ?? '');
    const least = this.#answeredOf.get(`${id} ${keyAsked}`) ?? 0;
    if (isWrite(verb)) return (answer) => this.#wrote(id, before, least, call, answer as KubeObject);
    const isFresh = options?.resourceVersion === undefined || options.resourceVersion === '';
    if (isFresh && (verb === 'get' || verb === 'list'))
      return (answer) => this.#notOlder(answer as KubeObject, verb === 'get' ? least : before, verb);
    return () => {};
  }
  /** `before`: the newest version answered before the request; `least`: that of the same object. */
  #wrote(id: string, before: number, least: number, { verb, object }: ApiCall, answer: KubeObject): void {
    const version = versionOf(answer);
    if (!(version > 0)) return;
    const key = `${id} ${keyOf(answer.metadata)}`;
    const base = verb === 'update' ? versionOf(object as KubeObject) : Number.NaN;
    // A write that changes nothing answers with the version that was there.
    const mustBeNew = verb === 'create' || (verb === 'update' && version !== base);
    const floor = mustBeNew ? before + 1 : least;
    if (version < floor) this.complaints.push(`${verb} ${key} gave version ${version}, after ${floor - 1} was answered`);
    if (base > 0 && version !== base) this.#updates.push({ id, key: keyOf(answer.metadata), base, version });
    this.#answered = Math.max(this.#answered, version);
    this.#answeredOf.set(key, Math.max(this.#answeredOf.get(key) ?? 0, version));
  }
  #notOlder(answer: KubeObject, least: number, verb: string): void {
    const version = versionOf(answer);
    if (version > 0 && version < least) this.complaints.push(`${verb}: version ${version}, after ${least} was answered`);
  }
  async reconnect(): Promise<void> {
    for (const followed of this.#followed.values()) await followed.reconnect();
  }
  /** Compares what was watched with what is listed, and the watch that was interrupted with the one that was not. Call when all is quiet. */
  async check(): Promise<string[]> {
    const wrong: string[] = [];
    for (const [id, { live, events, resumed }] of this.#followed) {
      const [resource = '', ...group] = id.split('.');
      const { items } = await this.#client.resource({ group: group.join('.'), version: 'v1', resource }).list();
      const listed = new Map(items.map((object) => [keyOf(object.metadata), versionOf(object)]));
      for (const [key, object] of live)
        if (listed.get(key) !== versionOf(object))
          wrong.push(`${id} ${key}: watched ${versionOf(object)}, listed ${listed.get(key)}`);
      if (listed.size !== live.size) wrong.push(`${id}: ${live.size} watched, ${listed.size} listed`);
      const at = events.findIndex((event, index) => event !== resumed[index]);
      if (at >= 0) wrong.push(`${id}: event ${at} is ${events[at]}, after reconnections ${resumed[at]}`);
      else if (resumed.length > events.length) wrong.push(`${id}: ${resumed[events.length]} was repeated`);
    }
    for (const { id, key, base, version } of this.#updates) {
      const previous = this.#followed.get(id)?.previous.get(`${key} ${version}`);
      if (previous !== undefined && previous !== base)
        wrong.push(`${id} ${key}: version ${version} replaced ${previous}, not ${base}`);
    }
    return [...this.complaints, ...wrong];
  }
}
