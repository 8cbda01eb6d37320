// Sockets in another network namespace, from this process: also after the helper that makes them has died.
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinNetns, type NetnsSockets } from '#host';
import { run } from '../cluster/harness.ts';

const netns = `sagong-test-${process.pid}`;
const isRoot = process.getuid?.() === 0;

async function helperPids(): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    const words = /^\d+$/.test(entry) ? (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0') : [];
    if (words.includes(netns) && words.includes('-e')) found.push(Number(entry));
  }
  return found;
}

describe.skipIf(!isRoot)(`sockets in a network namespace${isRoot ? '' : ' (skipped: not root)'}`, () => {
  let sockets: NetnsSockets;
  beforeAll(async () => {
    expect(await run('ip', ['netns', 'add', netns])).toMatchObject({ code: 0 });
    expect(await run('ip', ['-n', netns, 'link', 'set', 'lo', 'up'])).toMatchObject({ code: 0 });
    sockets = await joinNetns(netns, netns);
  });
  afterAll(async () => {
    sockets?.close();
    await run('ip', ['netns', 'delete', netns]);
  });

  it('live on without their helper, and the next ones come from another', async () => {
    const server = await sockets.listen('127.0.0.1', 4321);
    server.on('connection', (socket: Socket) => socket.on('error', () => {}).end('hello'));
    const read = async (): Promise<string> => {
      const socket = await sockets.connect('127.0.0.1', 4321);
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.resume();
      await once(socket, 'end');
      socket.destroy();
      return text;
    };
    expect(await read()).toBe('hello');
    const [pid = 0, ...others] = await helperPids();
    expect(others).toEqual([]);
    process.kill(pid, 'SIGKILL');
    await expect.poll(helperPids).toEqual([]);
    await expect.poll(read).toBe('hello');
    expect(await helperPids()).not.toContain(pid);
    await expect(sockets.connect('127.0.0.1', 1)).rejects.toThrow('ECONNREFUSED');
    server.close();
  });

  it('are refused once it was ended on purpose, and where there is no such namespace', async () => {
    sockets.close();
    await expect(sockets.listen('127.0.0.1', 0)).rejects.toThrow('was ended');
    await expect.poll(helperPids).toEqual([]);
    await expect(joinNetns(`${netns}-none`, netns)).rejects.toThrow('has ended');
  });
});
