// Questions outside the cluster's domain go to the machine's own name servers, as they came; answers are kept for a short while.
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { isIP } from 'node:net';
import { decode, type DecodedPacket } from 'dns-packet';
import type { Clock } from '#utils';
import { forwardAttempts, forwardCacheMax, forwardCacheSecondsMax, forwardsMax, forwardTimeoutMs } from './limits.ts';

export interface Upstream {
  host: string;
  port: number;
}

/** Name servers of a resolv.conf text; `ownAddresses` are left out, so that the server never asks itself. */
export function upstreamsOf(resolvConf: string, ownAddresses: readonly string[] = []): Upstream[] {
  return resolvConf.split('\n').flatMap((line) => {
    const host = /^\s*nameserver\s+(\S+)/.exec(line)?.[1];
    return host && isIP(host) !== 0 && !ownAddresses.includes(host) ? [{ host, port: 53 }] : [];
  });
}

/** Reads `address`, `address:port` or `[address]:port`. Throws a sentence for anything else. */
export function parseUpstream(text: string): Upstream {
  const [, host = '', port = '53'] = isIP(text) ? ['', text] : (/^\[?([^\]]*?)\]?:(\d+)$/.exec(text) ?? []);
  if (isIP(host) === 0 || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`a name server is address[:port], not ${JSON.stringify(text)}`);
  return { host, port: Number(port) };
}

export interface Forwarder {
  /** The upstream's raw answer with the question's own id; undefined when none came. */
  ask(query: Buffer, cacheKey: string): Promise<Buffer | undefined>;
}

export function createForwarder(upstreams: readonly Upstream[], clock: Clock): Forwarder {
  const cache = new Map<string, { answer: Buffer; untilMs: number }>();
  let waiting = 0;

  const remember = (key: string, answer: Buffer): void => {
    const ttl = Math.min(shortestTtl(answer), forwardCacheSecondsMax);
    if (ttl <= 0) return;
    cache.delete(key);
    cache.set(key, { answer, untilMs: clock.monotonic() + ttl * 1000 });
    const oldest = cache.keys().next().value;
    if (cache.size > forwardCacheMax && oldest !== undefined) cache.delete(oldest);
  };
  const exchange = async (query: Buffer): Promise<Buffer | undefined> => {
    for (let attempt = 0; attempt < forwardAttempts; attempt++)
      for (const upstream of upstreams) {
        const answer = await askOverUdp(query, upstream);
        if (answer && (answer.readUInt16BE(2) & 0x0200) !== 0) return (await askOverTcp(query, upstream)) ?? answer;
        if (answer) return answer;
      }
    return undefined;
  };
  return {
    async ask(query, cacheKey) {
      const known = cache.get(cacheKey);
      if (known && known.untilMs > clock.monotonic()) return withId(known.answer, query);
      if (upstreams.length === 0 || waiting >= forwardsMax) return undefined;
      waiting += 1;
      try {
        const answer = await exchange(query);
        if (answer) remember(cacheKey, answer);
        return answer;
      } finally {
        waiting -= 1;
      }
    },
  };
}

function withId(answer: Buffer, query: Buffer): Buffer {
  const copy = Buffer.from(answer);
  query.copy(copy, 0, 0, 2);
  return copy;
}

function shortestTtl(answer: Buffer): number {
  let packet: DecodedPacket;
  try {
    packet = decode(answer);
  } catch {
    return 0;
  }
  const ttls = (packet.answers ?? []).map((record) => ('ttl' in record && typeof record.ttl === 'number' ? record.ttl : 0));
  return ttls.length === 0 ? 0 : Math.min(...ttls);
}

function askOverUdp(query: Buffer, { host, port }: Upstream): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
    const finish = (answer?: Buffer): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(finish, forwardTimeoutMs);
    socket.once('error', () => finish());
    socket.connect(port, host, () => socket.send(query));
    socket.on('message', (answer) => {
      // Anything else is a late or a forged answer.
      if (answer.length >= 12 && answer.readUInt16BE(0) === query.readUInt16BE(0)) finish(answer);
    });
  });
}

function askOverTcp(query: Buffer, { host, port }: Upstream): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let received = Buffer.alloc(0);
    const finish = (answer?: Buffer): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(forwardTimeoutMs, () => finish());
    socket.once('error', () => finish());
    socket.once('close', () => finish());
    socket.once('connect', () => socket.write(frame(query)));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const length = received.length >= 2 ? received.readUInt16BE(0) : Number.POSITIVE_INFINITY;
      if (received.length >= length + 2) finish(received.subarray(2, length + 2));
    });
  });
}

/** A message with its length before it, as over TCP (RFC 1035 section 4.2.2). */
export function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(message.length + 2);
  framed.writeUInt16BE(message.length, 0);
  message.copy(framed, 2);
  return framed;
}
