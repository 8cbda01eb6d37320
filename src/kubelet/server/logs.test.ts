// A log that is followed ends when its container has ended, and like nothing else.
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { CriError } from '#cri';
import { systemClock } from '#host';
import { createWireClient, serve } from '#wire';
import { serveLogs } from './logs.ts';
import type { ServedKubelet } from './served.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Follows a log of one line until the runtime, asked whether the container still runs, fails with `error`. */
async function followed(error: Error): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'log-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  const path = join(directory, '0.log');
  await appendFile(path, '2026-01-01T00:00:00Z stdout F line\n');
  let asked = 0;
  const log = () => (asked++ === 0 ? Promise.resolve({ path, open: true }) : Promise.reject(error));
  const pod = { metadata: { namespace: 'default', name: 'web' }, spec: { containers: [{ name: 'app' }] } };
  const containerStatuses = [{ name: 'app', containerID: 'containerd://1', state: { running: {} } }];
  const kubelet = {
    parts: { runtime: { name: 'containerd', streams: { log } }, clock: systemClock() },
    workers: { pods: () => [pod], mirrors: () => [] },
    statuses: { get: () => ({ containerStatuses }) },
  } as unknown as ServedKubelet;
  const server = await serve({
    onRequest: (request, response) => serveLogs(kubelet, ['default', 'web', 'app'], request, response),
  });
  const client = createWireClient({ baseUrl: `http://127.0.0.1:${server.port}` });
  cleanups.push(
    () => server.close({ graceMs: 0 }),
    () => client.close(),
  );
  return (await client.request({ path: '/containerLogs/default/web/app?follow=true' })).text();
}

test('with its container', async () => {
  expect(await followed(new CriError('NOT_FOUND', 'no such container'))).toBe('line\n');
});

test('not with the runtime, which may come back', async () => {
  await expect(followed(new CriError('UNAVAILABLE', 'connection refused'))).rejects.toThrow();
});
