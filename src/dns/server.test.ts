// Real sockets on loopback: what crosses the wire is this room's subject.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { Resolver } from 'node:dns/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { decode, encode } from 'dns-packet';
import { systemClock } from '#host';
import { createResponder } from './answer.ts';
import { resolve } from './zone.ts';
import { createForwarder, frame } from './forward.ts';
import { serveDns } from './server.ts';
import type { ClusterView } from './zone.ts';

const manyAddresses = Array.from({ length: 200 }, (_, index) => `10.0.${Math.floor(index / 250)}.${index % 250}`);
const view: ClusterView = {
  service: (namespace, name) => ({
    metadata: { name, namespace },
    spec: name === 'big' ? { clusterIP: 'None' } : { clusterIP: '10.96.0.7' },
  }),
  slices: () => [
    { metadata: { name: 's' }, addressType: 'IPv4', endpoints: manyAddresses.map((address) => ({ addresses: [address] })) },
  ],
  namespaceExists: () => true,
  serviceByAddress: () => undefined,
  slicesByAddress: () => [],
};
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Both on one port: another may have it for UDP, then it is another. */
async function sockets(): Promise<{ udp: DatagramSocket; tcp: Server; port: number }> {
  for (;;) {
    const tcp = createServer();
    tcp.listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4');
    udp.bind(port, '127.0.0.1');
    const bound = await once(udp, 'listening').then(
      () => true,
      () => false,
    );
    if (bound) return { udp, tcp, port };
    tcp.close();
    udp.close();
  }
}

async function start(upstreams: { host: string; port: number }[] = []) {
  const { udp, tcp, port } = await sockets();
  const forwarder = createForwarder(upstreams, systemClock());
  const domain = 'cluster.local';
  const server = serveDns(
    { udp, tcp },
    createResponder({ domain, resolve: (name, type) => resolve(name, type, view, domain), forwarder }),
  );
  closers.push(() => server.close());
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return { port, resolver };
}

describe('the name server', () => {
  it('answers a resolver', async () => {
    const { resolver } = await start();
    expect(await resolver.resolve4('db.shop.svc.cluster.local')).toEqual(['10.96.0.7']);
    await expect(resolver.resolve4('x.y.z.cluster.local')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('refuses those whom it does not serve, in no more bytes than they sent', async () => {
    const { udp, tcp, port } = await sockets();
    let asked = 0;
    const respond = async (): Promise<undefined> => void asked++;
    const server = serveDns({ udp, tcp }, respond, (address) => address !== '127.0.0.1');
    closers.push(() => server.close());
    const resolver = new Resolver({ timeout: 2000, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    await expect(resolver.resolve4('db.shop.svc.cluster.local')).rejects.toMatchObject({ code: 'EREFUSED' });
    const client = createSocket('udp4');
    const question = encode({ type: 'query', id: 7, questions: [{ type: 'A', name: 'a.example' }] });
    client.send(question, port, '127.0.0.1');
    const [answer] = (await once(client, 'message')) as [Buffer];
    expect([answer.length, answer.readUInt16BE(0), answer.readUInt16BE(2) & 0x800f]).toEqual([question.length, 7, 0x8005]);
    client.close();
    const overTcp = connect(port, '127.0.0.1');
    overTcp.on('error', () => {}).resume();
    await once(overTcp, 'close');
    expect(asked).toBe(0);
  });

  it('outlives answers that fail or come after its end', async () => {
    const { udp, tcp, port } = await sockets();
    const pending: { resolve(answer: Buffer): void; reject(error: Error): void }[] = [];
    const server = serveDns({ udp, tcp }, () => new Promise((resolve, reject) => pending.push({ resolve, reject })));
    const client = createSocket('udp4');
    for (let i = 0; i < 2; i++) client.send('query', port, '127.0.0.1');
    const overTcp = connect(port, '127.0.0.1');
    overTcp.write(frame(Buffer.from('query')));
    await expect.poll(() => pending.length).toBe(3);
    const ended = once(overTcp, 'close');
    for (const { reject } of pending.slice(1)) reject(new Error('broken'));
    server.close();
    pending[0]?.resolve(Buffer.from('late'));
    overTcp.resume();
    await ended;
    client.close();
  });

  it('truncates over UDP and gives the whole answer over TCP', async () => {
    const { resolver } = await start();
    expect(await resolver.resolve4('big.shop.svc.cluster.local')).toHaveLength(200);
  });

  it('forwards what is not its own, once while the answer is fresh', async () => {
    const asked: string[] = [];
    const upstream = createSocket('udp4');
    upstream.on('message', (message, remote) => {
      const query = decode(message);
      asked.push(query.questions?.[0]?.name ?? '');
      const answers = [{ type: 'A' as const, name: 'example.org', ttl: 30, data: '192.0.2.1' }];
      upstream.send(encode({ type: 'response', id: query.id, questions: query.questions, answers }), remote.port, remote.address);
    });
    upstream.bind(0, '127.0.0.1');
    await once(upstream, 'listening');
    closers.push(() => upstream.close());
    const { resolver } = await start([{ host: '127.0.0.1', port: upstream.address().port }]);
    expect(await resolver.resolve4('example.org')).toEqual(['192.0.2.1']);
    expect(await resolver.resolve4('example.org')).toEqual(['192.0.2.1']);
    expect(asked).toEqual(['example.org']);
  });

  it('says SERVFAIL when no upstream answers', async () => {
    const { resolver } = await start();
    await expect(resolver.resolve4('example.org')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('survives what is not DNS', async () => {
    const { port, resolver } = await start();
    const garbage = createSocket('udp4');
    for (const bytes of [Buffer.alloc(0), Buffer.from('x'), Buffer.alloc(600, 0xff), Buffer.alloc(12)])
      garbage.send(bytes, port, '127.0.0.1');
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(frame(Buffer.alloc(20, 0x7f)));
    socket.end(Buffer.alloc(200_000, 1));
    socket.resume();
    await once(socket, 'close');
    garbage.close();
    expect(await resolver.resolve4('db.shop.svc.cluster.local')).toEqual(['10.96.0.7']);
  });
});
