// Of a watch in memory nothing stays behind, however it ends.
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Transport, WatchCall, WatchStream } from '#apimachinery/transport';
import { systemClock, systemRng } from '#host';
import { openMemoryStore } from '#store';
import { silentLogger } from '#utils';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { createNotes } from '../request/notes.ts';
import { createApiServer } from '../server.ts';
import type { ApiServer } from '../server-options.ts';
import { MemoryReply } from './memory-reply.ts';

const call: WatchCall = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default' };
const over = (stream: WatchStream): Promise<void> =>
  new Promise((resolve) =>
    stream.subscribe(
      () => {},
      () => resolve(),
    ),
  );

let server: ApiServer;
let transport: Transport;
let release: () => Promise<void>;

beforeEach(async () => {
  const clock = systemClock();
  const store = openMemoryStore({ clock, logger: silentLogger });
  server = await createApiServer({ store, clock, rng: systemRng() });
  await server.started;
  transport = server.transport({ name: 'loop', groups: [] });
  release = async () => {
    await server.close();
    await store.close();
  };
});
afterEach(() => release());

it('ends when it is called off while it begins', async () => {
  const caller = new AbortController();
  const beginning = transport.watch(call, caller.signal);
  caller.abort();
  await over(await beginning);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});

it('ends when its transport is closed while it begins', async () => {
  const beginning = transport.watch(call);
  transport.close();
  await over(await beginning);
});

it.each([
  ['its reader stops it', async (stream: WatchStream) => stream.stop()],
  ['its time is over', (stream: WatchStream) => over(stream)],
])('listens to its caller no more when %s', async (_, end) => {
  const caller = new AbortController();
  const stream = await transport.watch({ ...call, options: { timeoutSeconds: 1 } }, caller.signal);
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1);
  await end(stream);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});

it.each(['stops', 'breaks off'])('of another API server is over when it %s', async (how) => {
  const reply = new MemoryReply({} as AnswerContext, createNotes());
  const ends: unknown[] = [];
  let cut = (_error?: Error): void => {};
  const stream: WatchStream = {
    subscribe(_handler, end) {
      cut = end;
    },
    stop: () => cut(),
  };
  let count = 0;
  reply.onEnd(() => count++);
  await reply.send({ is: 'remote watch', stream });
  expect(reply.streaming).toBe(true);
  reply.stream?.subscribe(
    () => {},
    (error) => ends.push(error),
  );
  if (how === 'stops') reply.stream?.stop();
  else cut(new Error('cut'));
  expect({ count, streaming: reply.streaming, ends: ends.length }).toEqual({ count: 1, streaming: false, ends: 1 });
});
