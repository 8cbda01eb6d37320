import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createWireClient } from '../client/client.ts';
import { serve } from '../server/serve.ts';
import { dialWebSocket } from './handshake.ts';
import { sendOverWebSocket } from './reader.ts';

async function* half(fails: boolean): AsyncGenerator<Buffer> {
  yield Buffer.from('half');
  if (fails) throw new Error('cut off');
}

test.each([
  ['is over', false, 1000],
  ['fails', true, 1011],
])('a stream that %s closes the WebSocket with its code', async (_how, fails, code) => {
  const server = await serve({
    onRequest: (_request, response) => response.send(404, {}, 'no'),
    onUpgrade: (upgrade) => sendOverWebSocket(upgrade, Readable.from(half(fails))),
  });
  try {
    const connection = await dialWebSocket(createWireClient({ baseUrl: `http://127.0.0.1:${server.port}` }), { path: '/' });
    let taken = '';
    connection.on('part', ({ data }) => (taken += data.toString()));
    const [told] = (await once(connection, 'close')) as [number];
    expect([taken, told]).toEqual(['half', code]);
  } finally {
    await server.close({ graceMs: 0 });
  }
});
