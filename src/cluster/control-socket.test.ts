import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '#utils';
import type { WireServer } from '#wire';
import { askCluster, serveControl } from './control-socket.ts';

let dir = '';
let path = '';
let server: WireServer;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sagong-control-'));
  path = join(dir, 'control.sock');
  const routes = {
    'GET /echo': async (query: URLSearchParams) => Object.fromEntries(query),
    'GET /fails': () => Promise.reject(new Error('not today')),
  };
  server = await serveControl(path, routes, silentLogger);
});
afterEach(async () => {
  await server.close({ graceMs: 0 });
  rmSync(dir, { recursive: true, force: true });
});

const raw = (target: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(path);
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('close', () => resolve(text)).on('error', reject);
    socket.write(`GET ${target} HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n`);
  });

test('answers questions, and says why it does not', async () => {
  expect(await askCluster(path, 'GET', '/echo', { a: 'b&c' })).toEqual({ a: 'b&c' });
  await expect(askCluster(path, 'GET', '/fails', {})).rejects.toThrow('not today');
  await expect(askCluster(path, 'PUT', '/other', {})).rejects.toThrow('this cluster cannot do that: /other');
  await expect(askCluster(join(dir, 'none'), 'GET', '/echo', {})).rejects.toThrow('the cluster does not run');
});

test.runIf(process.platform === 'linux')('says of one whose socket was removed that it runs on', async () => {
  rmSync(path);
  await expect(askCluster(path, 'GET', '/echo', {})).rejects.toThrow(
    `the cluster runs (process ${process.pid}) and cannot be asked, as its socket ${path} was removed`,
  );
});

test.each(['//', '///', '//[', 'http://[', '/%', '/%ff?%', '/__proto__', '*', '/?a=%zz'])(
  'survives the target %s',
  async (target) => {
    expect(await raw(target)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(await askCluster(path, 'GET', '/echo', { still: 'here' })).toEqual({ still: 'here' });
  },
);
