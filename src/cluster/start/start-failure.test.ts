import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { NoSpaceError } from '#store';
import { byWhom, listenersIn } from '../port-holder.ts';
import { startFailure } from './start-failure.ts';

const noSpace = new Error('ENOSPC: no space left on the disk of /data');
const inUse = (port: number, address: string): Error => Object.assign(new Error('listen'), { code: 'EADDRINUSE', port, address });

it('says that the disk is full, and not what etcd says then', async () => {
  expect(await startFailure(new NoSpaceError({ cause: noSpace }), 6443)).toMatchObject({
    message: 'there is no room for the data of the cluster: ENOSPC: no space left on the disk of /data',
  });
});
it('leaves alone what says enough', async () => {
  const denied = Object.assign(new Error("EACCES: permission denied, open '/data/store'"), { code: 'EACCES' });
  expect(await startFailure(denied, 6443)).toBe(denied);
});
it('says which port is taken, of which address, and what helps', async () => {
  expect(await startFailure(inUse(1, '10.0.0.1'), 1)).toMatchObject({
    message: 'port 1 of 10.0.0.1 is taken; choose another with --port, or end what listens there',
  });
  expect(await startFailure(inUse(1, '127.0.0.1'), 6443)).toMatchObject({
    message: 'port 1 of 127.0.0.1 is taken; end what listens there, and start again',
  });
});
it('reads who listens', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:192B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
   1: 0100007F:192B 0100007F:D4A2 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0`;
  expect(listenersIn(table, 6443)).toEqual(['4711']);
});
it.runIf(process.platform === 'linux')('finds the process that listens', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect(await byWhom((server.address() as AddressInfo).port)).toMatch(/^ by \S.* \(process \d+\)$/);
  server.close();
});
