import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#host';
import { seededRng } from '#utils';
import { NamedWay } from './named-way.ts';

const addresses = ['127.0.0.2', '127.0.0.3'];

describe('the way to a control plane that is found by a name', () => {
  let means: string[];
  let servers: Server[];
  let way: NamedWay;
  let port: number;
  const dial = async (): Promise<Socket> => (await way.dial({ host: 'kube.example', port })) as Socket;
  const peersOf = async (count: number): Promise<Set<string | undefined>> =>
    new Set((await Promise.all(Array.from({ length: count }, dial))).map(({ remoteAddress }) => remoteAddress));

  beforeEach(async () => {
    means = addresses;
    servers = addresses.map(() => createServer((socket) => socket.on('error', () => {})));
    port = 0;
    for (const [index, server] of servers.entries()) {
      server.listen(port, addresses[index]);
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    }
    way = new NamedWay('kube.example', { clock: systemClock(), rng: seededRng(1) }, () =>
      means.length > 0 ? Promise.resolve(means) : Promise.reject(new Error('SERVFAIL')),
    );
  });
  afterEach(() => {
    way.close();
    for (const server of servers) server.close();
  });

  it('leads to all of its addresses', async () => {
    expect(await peersOf(16)).toEqual(new Set(addresses));
  });
  it('leads to another address where nobody accepts', async () => {
    servers[0]?.close();
    expect(await peersOf(8)).toEqual(new Set(['127.0.0.3']));
  });
  it('ends connections to what the name no longer means, and no others', async () => {
    const [before, after] = addresses;
    means = [before ?? ''];
    const left = await dial();
    means = [after ?? ''];
    const stays = await dial();
    await once(left, 'close');
    expect(stays.destroyed).toBe(false);
    // A name server that does not answer takes nothing away.
    means = [];
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(stays.destroyed).toBe(false);
  });
});
