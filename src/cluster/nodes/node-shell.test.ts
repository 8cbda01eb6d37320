import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isOurs } from './node-shell.ts';

let folder = '';
let file = '';
const children: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sagong-node-shell-'));
  file = join(folder, 'agent.json');
  await writeFile(file, '{}');
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** Of a process that has said that it is there. */
async function pidOf(command: string, ...args: string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return String(child.pid);
}
const waits = 'echo there; exec sleep 60';
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

it.skipIf(process.platform !== 'linux')('takes a process of this user that sees the same file', async () => {
  expect(await isOurs(String(process.pid), file)).toBe(true);
  expect(await isOurs(String(process.pid), join(folder, 'nothing'))).toBe(false);
  expect(await isOurs('999999999', file)).toBe(false);
});

it.skipIf(!isRoot)(
  'takes no process of somebody else, nor one in a file system of its own, whatever its command line says',
  async () => {
    const words = ['node-agent', '--config', file];
    const nobodys = await pidOf('setpriv', '--reuid=65534', '--clear-groups', 'sh', '-c', waits, ...words);
    const elsewhere = `mount -t tmpfs none ${folder}; echo '{}' >${file}; ${waits}`;
    const contained = await pidOf('unshare', '--mount', 'sh', '-c', elsewhere, ...words);
    expect(await isOurs(nobodys, file)).toBe(false);
    expect(await isOurs(contained, file)).toBe(false);
    expect(await isOurs(await pidOf('sh', '-c', waits, ...words), file)).toBe(true);
  },
);
