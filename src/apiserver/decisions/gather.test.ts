import { afterEach, expect, it } from 'vitest';
import { systemClock } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import { serve, type WireServer } from '#wire';
import { createGather, type Gathered } from './gather.ts';

const clock = systemClock();
const ca = createCertificateAuthority({ commonName: 'kubernetes', clock });
const proxyClient = issueCertificate({ ca, commonName: 'front-proxy-client', usages: ['client auth'], clock });
const user = { name: 'jane', groups: ['dev', 'ops'] };
const servers: WireServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close({ graceMs: 0 }))));

/** Answers every question with this, and notes it. Gives its address. */
async function answering(status: number, body: string, asked: string[] = []): Promise<string> {
  const server = await serve({
    tls: {
      ...issueCertificate({ ca, commonName: 'x', ips: ['127.0.0.1'], usages: ['server auth'], clock }),
      requestClientCert: true,
      ca: ca.cert,
    },
    listen: { host: '127.0.0.1', port: 0 },
    logger: silentLogger,
    async onRequest({ path, headers, peerCertificate }, response) {
      asked.push(`${path} ${headers['x-remote-user']} ${headers['x-remote-group']} ${peerCertificate?.subject.commonName}`);
      response.send(status, {}, body);
    },
  });
  servers.push(server);
  return `127.0.0.1:${server.port}`;
}

function gatherOf(sources: string[], peers: string[], own = '10.0.0.1:6443', refused: never[] = []) {
  const ports = [own, ...peers].map((address) => ({ ip: address.split(':')[0] ?? '', port: Number(address.split(':')[1]) }));
  const endpoints = { metadata: {}, subsets: ports.map(({ ip, port }) => ({ addresses: [{ ip }], ports: [{ port }] })) };
  return createGather({
    sources: sources.map((address) => `https://${address}`),
    proxyClient,
    ca: ca.cert,
    cluster: { get: () => endpoints as never },
    own: () => own,
    refusals: () => refused,
  });
}
const ask = (gather: ReturnType<typeof createGather>, query = 'resource=pods&key=default%2Fweb'): Promise<Gathered> =>
  gather(query, user, new AbortController().signal);

it('asks components beside it and other apiservers as the one who asks, and those only for what is beside them', async () => {
  const [here, there]: [string[], string[]] = [[], []];
  const manager = await answering(200, '{"decisions":[{"controller":"a"}]}', here);
  const peer = await answering(
    200,
    '{"decisions":[{"controller":"b"}],"scheduling":{"outcome":"placed"},"silent":["x: y"]}',
    there,
  );
  expect(await ask(gatherOf([manager], [peer]))).toEqual({
    decisions: [{ controller: 'a' }, { controller: 'b' }],
    scheduling: { outcome: 'placed' },
    silent: [`https://${peer}: x: y`],
  });
  expect(here).toEqual(['/debug/decisions?resource=pods&key=default%2Fweb jane dev, ops front-proxy-client']);
  expect(there).toEqual(['/debug/decisions?resource=pods&key=default%2Fweb&here=true jane dev, ops front-proxy-client']);
});
it('gives the requests that all apiservers have refused, where those are asked for', async () => {
  const [here, there]: [string[], string[]] = [[], []];
  const manager = await answering(200, '{"decisions":[1]}', here);
  const peer = await answering(200, '{"decisions":[],"refusals":[{"user":"b"}],"silent":[]}', there);
  const own = { user: 'a' } as never;
  expect(await ask(gatherOf([manager], [peer], undefined, [own]), 'refused=true')).toEqual({
    decisions: [],
    refusals: [{ user: 'a' }, { user: 'b' }],
    silent: [],
  });
  expect(here).toEqual([]);
  expect(there).toEqual(['/debug/decisions?refused=true&here=true jane dev, ops front-proxy-client']);
  expect(await ask(gatherOf([manager], [], undefined, [own]))).toEqual({ decisions: [1], silent: [] });
});
it('asks no other apiserver for another one', async () => {
  const asked: string[] = [];
  const peer = await answering(200, '{}', asked);
  expect(await ask(gatherOf([], [peer]), 'here=true')).toEqual({ decisions: [], silent: [] });
  expect(asked).toEqual([]);
});
it.each([
  [403, 'no', 'status 403: no'],
  [200, 'no JSON', /JSON/],
  [200, '[', /JSON/],
  [200, 'null', 'the answer is no object'],
  [200, '{"decisions":7,"silent":[1,null]}', undefined],
])('names who does not answer (%i %s), and goes on', async (status, body, why) => {
  const address = await answering(status, body);
  const good = await answering(200, '{"decisions":[1]}');
  const { decisions, silent } = await ask(gatherOf([address, good], []));
  expect(decisions).toEqual([1]);
  expect(silent).toEqual(why === undefined ? [] : [expect.stringMatching(why)]);
});
it('names who is not there, and an apiserver that the authority does not vouch for', async () => {
  const gone = await answering(200, '{}');
  await servers.pop()?.close({ graceMs: 0 });
  expect((await ask(gatherOf([gone], []))).silent).toEqual([`https://${gone}: dial tcp ${gone}: connect: connection refused`]);
  const stranger = createCertificateAuthority({ commonName: 'stranger', clock });
  const peer = await answering(200, '{"decisions":[1]}');
  const gather = createGather({
    sources: [],
    proxyClient,
    ca: stranger.cert,
    cluster: {
      get: () => ({ subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: Number(peer.split(':')[1]) }] }] }) as never,
    },
    own: () => '',
  });
  expect(await ask(gather)).toEqual({ decisions: [], silent: [expect.stringContaining('x509')] });
});
