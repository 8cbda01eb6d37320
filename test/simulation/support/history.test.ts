// The checks of a history, on an apiserver that breaks its promises.
import { describe, expect, it } from 'vitest';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import type { KubeClient } from '#client';
import { History } from './history.ts';

const things: GroupVersionResource = { group: '', version: 'v1', resource: 'things' };
const thing = (name: string, version: number): KubeObject => ({ metadata: { name, resourceVersion: `${version}` } });
const event = (type: WatchEvent['type'], name: string, version: number): WatchEvent => ({ type, object: thing(name, version) });

/** A server whose watchers get what they are given, and whose lists say what they are told. */
async function follow(listed: KubeObject[]) {
  const watchers: ((event: WatchEvent) => void)[] = [];
  let items: KubeObject[] = [];
  const resource = {
    list: () => Promise.resolve({ metadata: { resourceVersion: '10' }, items }),
    watch: (): Promise<WatchStream> => Promise.resolve({ subscribe: (handler) => void watchers.push(handler), stop: () => {} }),
  };
  const history = new History({ resource: () => resource } as unknown as KubeClient);
  await history.follow([things]);
  items = listed;
  const tell = (watcher: number, ...events: WatchEvent[]): void => events.forEach((one) => watchers[watcher]?.(one));
  return { history, tell };
}

describe('watches', () => {
  const events = [event('ADDED', 'a', 11), event('MODIFIED', 'a', 12), event('ADDED', 'b', 13), event('DELETED', 'b', 14)];
  it.each<[string, WatchEvent[], WatchEvent[], KubeObject[], string[]]>([
    ['that are true', events, events, [thing('a', 12)], []],
    [
      'that skip',
      events,
      events.slice(1),
      [thing('a', 12)],
      ['things.: event 0 is 11 ADDED a, after reconnections 12 MODIFIED a'],
    ],
    ['that repeat', events, [...events, event('DELETED', 'b', 14)], [thing('a', 12)], ['things.: 14 DELETED b was repeated']],
    ['that go back', [event('ADDED', 'a', 9)], [event('ADDED', 'a', 9)], [thing('a', 9)], ['a: version 9 was watched after 10']],
    [
      'that add twice',
      [events[0], event('ADDED', 'a', 12)] as WatchEvent[],
      [events[0], event('ADDED', 'a', 12)] as WatchEvent[],
      [thing('a', 12)],
      ['a: ADDED, while it was there'],
    ],
    ['that differ from lists', events.slice(0, 2), events.slice(0, 2), [thing('a', 15)], ['things. a: watched 12, listed 15']],
  ])('%s', async (_what, first, second, listed, wrong) => {
    const { history, tell } = await follow(listed);
    tell(0, ...first);
    tell(1, ...second);
    expect(await history.check()).toEqual(wrong);
  });
});

describe('answers', () => {
  const call = { ...things, namespace: '', name: 'a' };
  const complaintsOf = async (steps: (history: History) => void): Promise<string[]> => {
    const { history } = await follow([]);
    steps(history);
    return history.check();
  };
  it('may come in any order while requests overlap', async () => {
    const complaints = await complaintsOf((history) => {
      const [first, second] = [history.request({ ...call, verb: 'create' }), history.request({ ...call, verb: 'get' })];
      first(thing('a', 20));
      second(thing('a', 19));
    });
    expect(complaints).toEqual([]);
  });
  it.each(['get', 'list'] as const)('to a %s are not older than what was answered before', async (verb) => {
    const complaints = await complaintsOf((history) => {
      history.request({ ...call, verb: 'create' })(thing('a', 20));
      history.request({ ...call, verb })(thing('a', 19));
      history.request({ ...call, verb, options: { resourceVersion: '0' } })(thing('a', 3));
    });
    expect(complaints).toEqual([`${verb}: version 19, after 20 was answered`]);
  });
  it('to writes come in the order of the writes', async () => {
    const complaints = await complaintsOf((history) => {
      history.request({ ...call, verb: 'create' })(thing('a', 20));
      history.request({ ...call, name: 'b', verb: 'create' })(thing('b', 18));
    });
    expect(complaints).toEqual(['create things. b gave version 18, after 20 was answered']);
  });
  it('to updates replace the version that they name', async () => {
    const { history, tell } = await follow([thing('a', 13)]);
    const events = [event('ADDED', 'a', 11), event('MODIFIED', 'a', 12), event('MODIFIED', 'a', 13)];
    for (const watcher of [0, 1]) tell(watcher, ...events);
    history.request({ ...call, verb: 'update', object: thing('a', 12) })(thing('a', 13));
    expect(await history.check()).toEqual([]);
    history.request({ ...call, verb: 'update', object: thing('a', 11) })(thing('a', 13));
    expect((await history.check()).at(-1)).toBe('things. a: version 13 replaced 12, not 11');
  });
});
