import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WireServer } from '../index.ts';
import { serve } from './serve.ts';

let dir = '';
const servers: WireServer[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sagong-socket-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
  rmSync(dir, { recursive: true, force: true });
});

async function start(path: string, text: string): Promise<WireServer> {
  const server = await serve({ listen: { path }, onRequest: (_request, response) => response.send(200, {}, text) });
  servers.push(server);
  return server;
}
const ask = (socketPath: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path: '/' }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(text);
    })
      .on('error', reject)
      .end();
  });

test('a socket whose process was killed is taken over', async () => {
  const path = join(dir, 'a.sock');
  const listen = `require('node:net').createServer().listen(process.argv[1], () => console.log('listening'))`;
  const other = spawn(process.execPath, ['-e', listen, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(other.stdout, 'data');
  await expect(start(path, 'second')).rejects.toThrow(`another process serves on ${path}`);
  other.kill('SIGKILL');
  await once(other, 'exit');
  expect(statSync(path).isSocket()).toBe(true);
  await start(path, 'second');
  expect(await ask(path)).toBe('second');
});

test('a socket that is served is left alone, and only its user can open it', async () => {
  const path = join(dir, 'a.sock');
  await start(path, 'first');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await expect(start(path, 'second')).rejects.toThrow(`another process serves on ${path}`);
  expect(await ask(path)).toBe('first');
});

test('what is not a socket is not removed, and a path too long is told', async () => {
  const path = join(dir, 'file');
  writeFileSync(path, 'precious');
  await expect(start(path, 'x')).rejects.toThrow(`${path} is not a socket`);
  expect(statSync(path).size).toBe(8);
  await expect(start(join(dir, 'x'.repeat(100)), 'x')).rejects.toThrow('at most 107 bytes');
});
