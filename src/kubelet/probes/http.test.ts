// HTTP requests of probes and the redirects they follow.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PodRuntime } from '../container/runtime.ts';
import { httpGet } from './http.ts';
import { systemClock } from '#host';
import { createProber } from './prober.ts';

let server: Server;
let base: string;
const asked: { path: string; agent: string | undefined }[] = [];
const locations: Record<string, string> = {
  '/relative': 'good',
  '/absolute': '/good',
  '/to-bad': '/bad',
  '/round': '/round',
  '/away': 'http://127.0.0.2:1/good',
};

beforeEach(async () => {
  asked.length = 0;
  server = createServer(({ url = '', headers }, response) => {
    asked.push({ path: url, agent: headers['user-agent'] });
    if (url === '/never') return;
    const location = locations[url];
    const status = location !== undefined || url === '/nowhere' ? 302 : url === '/good' ? 200 : 500;
    response.writeHead(status, { ...(location && { location }) }).end(`at ${url}`);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const get = (path: string, timeoutMs = 5_000) =>
  httpGet({ url: base + path, headers: { 'user-agent': 'kube-probe/1.36' } }, timeoutMs);
const probe = (path: string) =>
  createProber({} as PodRuntime, systemClock())(
    { httpGet: { host: '127.0.0.1', port: Number(new URL(base).port), path }, timeoutSeconds: 5 },
    { pod: { metadata: {} }, container: { name: 'c' }, containerId: '', podIP: '' },
  );

it.each([
  ['informational answers without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000), /too many 1xx informational responses/],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', undefined],
])('a container that answers with %s is told apart at once', async (_, answer, problem) => {
  const odd = createNetServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write(answer));
  });
  await new Promise<void>((resolve) => void odd.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = odd.address() as AddressInfo;
    const asking = httpGet({ url: `http://127.0.0.1:${port}/`, headers: {} }, 60_000);
    if (problem) await expect(asking).rejects.toThrow(problem);
    else expect(await asking).toMatchObject({ status: 101 });
  } finally {
    await new Promise((resolve) => odd.close(resolve));
  }
});

it('follows redirects to the same host, with the same headers', async () => {
  for (const path of ['/relative', '/absolute']) expect(await get(path)).toMatchObject({ status: 200, body: 'at /good' });
  expect(await get('/to-bad')).toMatchObject({ status: 500 });
  expect(new Set(asked.map(({ agent }) => agent))).toEqual(new Set(['kube-probe/1.36']));
});

it('goes to no other host, and nowhere without being told where', async () => {
  expect(await get('/away')).toMatchObject({ status: 302, body: 'at /away' });
  expect(await get('/nowhere')).toMatchObject({ status: 302 });
});

it('gives up after ten redirects, and when time is over', async () => {
  await expect(get('/round')).rejects.toThrow(`Get "${base}/round": stopped after 10 redirects`);
  expect(asked).toHaveLength(10);
  await expect(get('/never', 50)).rejects.toThrow('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
});

it('makes a probe of them: a page behind a local redirect counts, one elsewhere is a success with a warning', async () => {
  expect(await probe('/absolute')).toEqual({ result: 'success', output: '' });
  expect(await probe('/to-bad')).toEqual({ result: 'failure', output: 'HTTP probe failed with statuscode: 500' });
  expect(await probe('/away')).toEqual({ result: 'warning', output: 'Probe terminated redirects, Response body: at /away' });
});
