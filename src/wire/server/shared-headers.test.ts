// Answers may share one object of headers: what HTTP/2 needs beside them must not be seen by HTTP/1.1, and the other way round.
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import type { WireRequest, WireResponse, WireServer } from '../index.ts';
import { answerOf, openHttp2 } from './misbehaving-client.ts';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });
const shared = { 'content-type': 'text/plain', connection: 'keep-alive', 'x-list': ['a', 'b'] };
const before = structuredClone(shared);

let server: WireServer | undefined;
afterEach(() => server?.close({ graceMs: 0 }));

function onRequest({ path }: WireRequest, response: WireResponse): void {
  if (path === '/send') return response.send(200, shared, 'sent');
  response.head(200, shared);
  response.end('sent');
}

const asks = {
  async http1(port: number, path: string): Promise<{ status: number; text: string }> {
    const request = httpsRequest({ host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode ?? 0, text };
  },
  async http2(port: number, path: string): Promise<{ status: number; text: string }> {
    const session = openHttp2(port);
    const answer = await answerOf(session.request({ ':path': path }));
    session.destroy();
    return answer;
  },
};

const orders: (keyof typeof asks)[][] = [
  ['http1', 'http2', 'http1'],
  ['http2', 'http1', 'http2'],
];
test.each(orders.flatMap((order) => ['/send', '/head'].map((path) => ({ order, path }))))(
  '$path answers $order alike, and leaves the headers as they were',
  async ({ order, path }) => {
    server = await serve({ tls, onRequest });
    for (const version of order) expect(await asks[version](server.port, path)).toEqual({ status: 200, text: 'sent' });
    expect(shared).toEqual(before);
  },
);
