// Who may answer a machine that joins, and what it makes of that.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#host';
import { createCertificateAuthority, detachedJws, issueCertificate } from '#pki';
import { authorityHashes } from './cluster-info.ts';
import { discover } from './discovery.ts';
import { clusterInfoBytesMax } from './limits.ts';

const ca = createCertificateAuthority({ commonName: 'kubernetes' });
const token = 'abcdef.0123456789abcdef';
const clock = systemClock();
const hashes = authorityHashes(ca.cert);

const kubeconfig = JSON.stringify({
  clusters: [
    { cluster: { server: 'https://10.0.0.1:6443', 'certificate-authority-data': Buffer.from(ca.cert).toString('base64') } },
  ],
});
const info = JSON.stringify({
  data: { kubeconfig, 'jws-kubeconfig-abcdef': detachedJws(kubeconfig, 'abcdef', '0123456789abcdef') },
});

describe('discovery', () => {
  let server: Server;
  const sockets = new Set<Socket>();
  let answer: (response: ServerResponse, asked: number) => void;
  let asked: (string | undefined)[];
  let endpoint: string;
  let signer: typeof ca;

  async function listen(): Promise<void> {
    const { cert, key } = issueCertificate({ ca: signer, commonName: 'x', ips: ['127.0.0.1'], usages: ['server auth'] });
    server = createServer({ cert, key }, ({ headers }, response) => answer(response, asked.push(headers.authorization)));
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    endpoint = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  beforeEach(() => {
    asked = [];
    signer = ca;
    answer = (response) => void response.end(info);
  });
  afterEach(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });

  it('finds a cluster that has the hash, and never shows the token', async () => {
    await listen();
    expect(await discover({ endpoint, token, hashes }, { clock })).toEqual({ server: 'https://10.0.0.1:6443', ca: ca.cert });
    expect(asked).toEqual([undefined, undefined]);
  });
  it.each<[string, (response: ServerResponse, asked: number) => void, string]>([
    ['a page', (response) => void response.end('<html></html>'), 'what it answered is no ConfigMap'],
    ['null', (response) => void response.end('null'), 'what it answered is no ConfigMap'],
    ['no ConfigMap at all', (response) => void response.writeHead(404).end(), 'it does not publish how to join it'],
    ['another place', (response) => void response.writeHead(302, { location: '/' }).end(), 'it answered 302'],
    [
      'another cluster the second time',
      (response, count) => void response.end(count === 1 ? info : JSON.stringify({ data: { kubeconfig: '' } })),
      'asked again with the authority of cluster-info, it answered another cluster-info',
    ],
  ])('says in a sentence that somebody answers %s', async (_what, how, sentence) => {
    answer = how;
    await listen();
    await expect(discover({ endpoint, token, hashes }, { clock })).rejects.toThrow(`${endpoint}: ${sentence}`);
  });
  it('reads no more than a cluster-info can be', async () => {
    let sent = 0;
    const piece = Buffer.alloc(64 * 1024, 'a');
    answer = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece)) sent += piece.length;
        sent += piece.length;
      };
      response.on('drain', more);
      more();
    };
    await listen();
    await expect(discover({ endpoint, token, hashes }, { clock })).rejects.toThrow(/is longer than 256 KiB$/);
    // What was on its way, in buffers of both sides, is not counted against it.
    expect(sent).toBeLessThan(clusterInfoBytesMax + 64 * 1024 * 1024);
    expect(asked).toHaveLength(1);
  });
  it('does not believe who repeats what another one says', async () => {
    signer = createCertificateAuthority({ commonName: 'kubernetes' });
    await listen();
    await expect(discover({ endpoint, token, hashes }, { clock })).rejects.toThrow(
      /is not valid for it by the authority in cluster-info: /,
    );
    expect(asked).toHaveLength(1);
  });
  it('says that somebody speaks no TLS', async () => {
    const plain = createPlainServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    );
    try {
      await once(plain, 'listening');
      const at = `127.0.0.1:${(plain.address() as AddressInfo).port}`;
      const over = new AbortController();
      let said = '';
      const tell = (sentence: string): void => {
        said = sentence;
        over.abort(new Error('enough'));
      };
      await expect(discover({ endpoint: at, token, hashes }, { clock, signal: over.signal, tell })).rejects.toThrow('enough');
      expect(said).toBe(`Waiting for the cluster at ${at}, 5 min at most: who answers there does not speak TLS`);
    } finally {
      plain.close();
    }
  });
  it.each<[string, (response: ServerResponse) => void, string]>([
    ['it answers 503', (response) => void response.writeHead(503).end(), 'it answered 503'],
    [
      'it does not know the token',
      (response) => void response.end(JSON.stringify({ data: { kubeconfig: '' } })),
      `could not find a JWS signature in the cluster-info ConfigMap for token ID "${token.split('.')[0]}": it has expired, or never was; for another one: sagong token create`,
    ],
  ])('says once whom it waits for, and why: %s', async (_what, how, why) => {
    const said: string[] = [];
    const over = new AbortController();
    answer = (response, count) => {
      if (count >= 2) over.abort(new Error('enough'));
      how(response);
    };
    await listen();
    const waiting = discover(
      { endpoint, token, hashes },
      { clock, signal: over.signal, tell: (sentence) => void said.push(sentence) },
    );
    await expect(waiting).rejects.toThrow('enough');
    expect(said).toEqual([`Waiting for the cluster at ${endpoint}, 5 min at most: ${why}`]);
  });
});
