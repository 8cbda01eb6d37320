import { describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { ApiCall, Transport, WatchCall, WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import { type Clock, type Logger, seededRng, silentLogger } from '#utils';
import { createClient } from './client.ts';
import { createInformerFactory } from './informer.ts';

const gvr = { group: '', version: 'v1', resource: 'configmaps' };
const thing = (name: string, version: number, labels: Record<string, string> = {}): KubeObject => ({
  metadata: { namespace: 'ns', name, uid: name, resourceVersion: String(version), labels },
});
/** Time passes as soon as somebody waits for it. */
const eagerClock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  setTimer: () => ({ cancel() {} }),
  sleep: () => new Promise((resolve) => setImmediate(resolve)),
};

/** A server whose lists are scripted and whose watches the test drives. */
class ScriptedServer implements Transport {
  lists: { items: KubeObject[]; version: string }[] = [];
  listCalls: ApiCall[] = [];
  watchCalls: WatchCall[] = [];
  refuseWatch: Error | undefined;
  #send: (event: WatchEvent) => void = () => {};
  #end: (error?: Error) => void = () => {};

  async call<T>(call: ApiCall): Promise<T> {
    this.listCalls.push(call);
    const list = this.lists.shift();
    if (!list) throw new Error('connection refused');
    return { metadata: { resourceVersion: list.version }, items: list.items } as T;
  }
  async watch<T extends KubeObject>(call: WatchCall): Promise<WatchStream<T>> {
    this.watchCalls.push(call);
    const refusal = this.refuseWatch;
    this.refuseWatch = undefined;
    if (refusal) throw refusal;
    return {
      subscribe: (handler, end) => {
        this.#send = handler as (event: WatchEvent) => void;
        this.#end = end;
      },
      stop: () => this.#end(),
    };
  }
  async raw(): Promise<{ status: number; text: string }> {
    return { status: 404, text: '' };
  }
  close(): void {}
  send(type: WatchEvent['type'], object: KubeObject): void {
    this.#send({ type, object });
  }
  end(error?: Error): void {
    this.#end(error);
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('condition not reached');
}

function start(server: ScriptedServer) {
  const factory = createInformerFactory({
    client: createClient(server),
    clock: eagerClock,
    rng: seededRng(1),
    logger: silentLogger,
  });
  const informer = factory.informer(gvr);
  const log: string[] = [];
  informer.addHandler({
    onAdd: (object, initial) => log.push(`add ${object.metadata.name}${initial ? ' initially' : ''}`),
    onUpdate: (object, old) =>
      log.push(`update ${object.metadata.name} ${old.metadata.resourceVersion}->${object.metadata.resourceVersion}`),
    onDelete: (object) => log.push(`delete ${object.metadata.name}`),
  });
  factory.start();
  return { factory, informer, log };
}

describe('informer', () => {
  it('lists, then follows the watch, and keeps indexes true', async () => {
    const server = new ScriptedServer();
    server.lists = [{ items: [thing('a', 1, { app: 'x' })], version: '5' }];
    const { factory, informer, log } = start(server);
    informer.addIndexers({ app: (object) => (object.metadata.labels?.['app'] ? [object.metadata.labels['app']] : []) });
    await factory.waitForSync();
    await until(() => server.watchCalls.length === 1);
    expect(server.watchCalls[0]?.options?.resourceVersion).toBe('5');
    server.send('ADDED', thing('b', 6, { app: 'x' }));
    server.send('MODIFIED', thing('a', 7, { app: 'y' }));
    expect(informer.lister.byIndex('app', 'x').map((o) => o.metadata.name)).toEqual(['b']);
    server.send('DELETED', thing('b', 8));
    expect(informer.lister.byIndex('app', 'x')).toEqual([]);
    expect(log).toEqual(['add a initially', 'add b', 'update a 1->7', 'delete b']);
    expect(informer.lister.resourceVersion()).toBe('8');
    factory.stop();
  });

  it('resumes from the last version when the watch ends, also after a bookmark', async () => {
    const server = new ScriptedServer();
    server.lists = [{ items: [], version: '5' }];
    const { factory } = start(server);
    await until(() => server.watchCalls.length === 1);
    server.send('BOOKMARK', { metadata: { resourceVersion: '9' } });
    server.end();
    await until(() => server.watchCalls.length === 2);
    expect(server.watchCalls[1]?.options?.resourceVersion).toBe('9');
    expect(server.listCalls).toHaveLength(1);
    factory.stop();
  });

  it('lists again after 410 and reports only differences', async () => {
    const server = new ScriptedServer();
    server.lists = [
      { items: [thing('a', 1), thing('b', 2)], version: '5' },
      { items: [thing('a', 1), thing('c', 9)], version: '10' },
    ];
    const { factory, log } = start(server);
    await until(() => server.watchCalls.length === 1);
    server.refuseWatch = new StatusError({ code: 410, reason: 'Expired', message: 'too old resource version' });
    server.end();
    await until(() => server.watchCalls.length === 3);
    expect(log).toEqual(['add a initially', 'add b initially', 'add c', 'delete b']);
    factory.stop();
  });

  it.each<[string, Error, number, number]>([
    ['nobody answers', new Error('connect ECONNREFUSED'), 4_000, 10_000],
    ['a server answers that it cannot', new StatusError({ code: 500, reason: 'InternalError', message: 'no' }), 30_000, 60_000],
  ])('asks at longer and longer intervals while %s', async (_, failure, leastMs, mostMs) => {
    const server = new ScriptedServer();
    server.call = () => Promise.reject(failure);
    const pauses: number[] = [];
    const clock: Clock = { ...eagerClock, sleep: (ms) => eagerClock.sleep(ms).then(() => void pauses.push(ms)) };
    const factory = createInformerFactory({ client: createClient(server), clock, rng: seededRng(1), logger: silentLogger });
    factory.informer(gvr);
    factory.start();
    await until(() => pauses.length === 20);
    factory.stop();
    expect(pauses[0]).toBeLessThan(2_000);
    expect(Math.max(...pauses)).toBeGreaterThan(leastMs);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(mostMs);
  });

  it('goes on, with its other handlers, when a handler or an index throws', async () => {
    const server = new ScriptedServer();
    server.lists = [{ items: [thing('a', 1)], version: '5' }];
    const complaints: unknown[] = [];
    const logger: Logger = { ...silentLogger, error: (...args) => void complaints.push(args), with: () => logger };
    const factory = createInformerFactory({ client: createClient(server), clock: eagerClock, rng: seededRng(1), logger });
    const informer = factory.informer(gvr);
    const seen: string[] = [];
    const bad = (): never => {
      throw new TypeError('names is not iterable');
    };
    informer.addIndexers({ bad, app: ({ metadata }) => [metadata.labels?.['app'] ?? ''] });
    informer.addHandler({ onAdd: bad, onUpdate: bad, onDelete: bad });
    informer.addHandler({
      onAdd: ({ metadata }) => seen.push(`add ${metadata.name}`),
      onUpdate: ({ metadata }) => seen.push(`update ${metadata.name}`),
      onDelete: ({ metadata }) => seen.push(`delete ${metadata.name}`),
    });
    factory.start();
    await until(() => server.watchCalls.length === 1);
    informer.addHandler({ onAdd: bad });
    server.send('MODIFIED', thing('a', 6, { app: 'x' }));
    expect(informer.lister.byIndex('app', 'x')).toHaveLength(1);
    server.send('DELETED', thing('a', 7));
    expect(informer.lister.byIndex('app', 'x')).toEqual([]);
    expect(seen).toEqual(['add a', 'update a', 'delete a']);
    expect(complaints[0]).toMatchObject(['index failed', { index: 'bad', object: 'ns/a' }]);
    expect(complaints[1]).toMatchObject(['event handler failed', { event: 'onAdd', object: 'ns/a' }]);
    factory.stop();
  });

  it('lists again when the watch sends what is no event', async () => {
    const server = new ScriptedServer();
    server.lists = [
      { items: [thing('a', 1)], version: '5' },
      { items: [thing('b', 6)], version: '6' },
    ];
    const { factory, log } = start(server);
    await until(() => server.watchCalls.length === 1);
    server.send('ADDED', null as unknown as KubeObject);
    await until(() => server.watchCalls.length === 2);
    server.send('ADDED', thing('b', 7));
    expect(log).toContain('add b');
    factory.stop();
  });

  it('keeps trying when the server cannot be reached', async () => {
    const server = new ScriptedServer();
    const { factory, informer } = start(server);
    await until(() => server.listCalls.length > 3);
    expect(informer.hasSynced()).toBe(false);
    server.lists = [{ items: [], version: '1' }];
    await factory.waitForSync();
    factory.stop();
  });
});
