// The head of an answer over HTTP/1.1 goes out byte by byte, whatever it goes out with.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Http1Response } from './http1.ts';

const bytes = Buffer.from('é').toString('latin1');
const headers = { warning: bytes };

test.each<[string, (response: Http1Response) => void]>([
  ['alone', (response) => (response.head(200, headers), response.flushHead(), response.end())],
  ['with a text', (response) => response.send(200, headers, 'text')],
  [
    'before a text',
    (response) => (response.head(200, { ...headers, 'content-length': 4 }), response.write('text'), response.end()),
  ],
])('%s', async (_, answer) => {
  const server = createServer((message, response) => answer(new Http1Response(message, response, 1000)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const sent = get({ port: (server.address() as AddressInfo).port });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.headers['warning']).toBe(bytes);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
