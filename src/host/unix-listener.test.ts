import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listenerOf, listeningInodes } from './unix-listener.ts';

const table = `Num       RefCount Protocol Flags    Type St Inode Path
00000000b1: 00000002 00000000 00010000 0001 01 12345 /data/control.sock
00000000b2: 00000003 00000000 00000000 0001 03 12346 /data/control.sock
00000000b3: 00000002 00000000 00010000 0001 01  7 /data/control.sock.old
00000000b4: 00000002 00000000 00010000 0001 01 12348 /a b/control.sock
00000000b5: 00000002 00000000 00010000 0001 01 12349
`;

it.each([
  ['/data/control.sock', ['12345']],
  ['/data/control.sock.old', ['7']],
  ['/a b/control.sock', ['12348']],
  ['/data/control', []],
  ['', []],
])('at %j listen %j', (path, inodes) => {
  expect(listeningInodes(table, path)).toEqual(inodes);
});

it.runIf(process.platform === 'linux')(
  'who listens is found when the file of the socket is gone, and not once it has ended',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sagong listener-'));
    const path = join(dir, 'a.sock');
    const server = createServer().listen(path);
    await once(server, 'listening');
    expect(await listenerOf(path)).toBe(process.pid);
    await rm(dir, { recursive: true });
    expect(await listenerOf(path)).toBe(process.pid);
    server.close();
    await once(server, 'close');
    expect(await listenerOf(path)).toBeUndefined();
  },
);
