// Streams of a pod: exec, port-forward and logs, over WebSocket and SPDY, by a tenant who may use its own pods. Most of its clients send more than
// anybody takes, and read nothing.
import { randomBytes } from 'node:crypto';
import { writableAgain } from './lib/clients.mjs';
import { addKubelet, exec, forward, log } from './lib/kubelet.mjs';

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const all = (count, each) => Promise.all(Array.from({ length: count }, (_, at) => each(at)));
const many = (piece, count) => Buffer.concat(Array.from({ length: count }, () => piece));

/** A connection that asks for another protocol, and what the server said first. */
async function upgraded(target, path, headers) {
  const socket = await target.clients.openTls();
  const lines = Object.entries({ host: 'x', authorization: `Bearer ${target.tenantToken}`, ...headers });
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  const said = await new Promise((done) => {
    socket.once('data', (data) => done(String(data)));
    socket.once('close', () => done(''));
  });
  socket.pause();
  return { socket, said };
}

const webSocket = (target, path, protocol) =>
  upgraded(target, path, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'sec-websocket-protocol': protocol,
  });
const spdy = (target, path, protocol) =>
  upgraded(target, path, { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol });

/** A frame whose mask is zeros, so that its payload stays what it is. */
function frame(op, payload, fin = true) {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 6 : length < 65_536 ? 8 : 14);
  head[0] = (fin ? 0x80 : 0) | op;
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 8) head.writeUInt16BE(length, 2);
  if (head.length === 14) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
const onChannel = (id, text) => frame(2, Buffer.concat([Buffer.from([id]), Buffer.from(text)]));
const [empty, binary, ping] = [0, 2, 9];

/** `count` connections that send the same as fast as it is taken, and never read. */
async function flood(target, count, open, bytes) {
  const until = performance.now() + target.seconds * 1000;
  let refused = '';
  await all(count, async () => {
    const { socket, said } = await open(target);
    if (!said.startsWith('HTTP/1.1 101')) refused = said.slice(0, 200);
    while (performance.now() < until && !socket.destroyed) {
      if (socket.write(bytes)) await pause(0);
      else await writableAgain(socket);
    }
  });
  if (refused) throw new Error(`no stream: ${refused}`);
}

const v5 = (target) => webSocket(target, exec, 'v5.channel.k8s.io');
const v4 = (target) => webSocket(target, exec, 'v4.channel.k8s.io');
const tunnel = (target) => webSocket(target, forward, 'SPDY/3.1+portforward.k8s.io');
const controlFrame = (type, payload) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(((0x8003 << 16) | type) >>> 0, 0);
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
};
const spdyPing = controlFrame(6, Buffer.from([0, 0, 0, 1]));
const flooding = (name, open, bytes, count = 20) => ({
  name: `streams, ${name}`,
  prepare: (target) => addKubelet(target),
  run: (target) => flood(target, count, open, bytes),
});

/** A kubelet that sends pings of SPDY without an end. */
const pings = (socket) => {
  const more = () => {
    if (!socket.destroyed && socket.write(many(spdyPing, 5_000))) setImmediate(more);
  };
  socket.on('drain', more);
  more();
};

export default [
  flooding('exec, pings whose answers nobody reads', v5, many(frame(ping, Buffer.alloc(0)), 10_000)),
  flooding(
    'exec, empty fragments without an end',
    v5,
    Buffer.concat([frame(binary, Buffer.from('\0'), false), many(frame(empty, Buffer.alloc(0), false), 10_000)]),
  ),
  flooding('exec, frames of 16 MiB', v5, onChannel(0, Buffer.alloc(16 * 1024 * 1024 - 1)), 50),
  flooding(
    'exec, sizes of a terminal between input that nobody takes',
    v5,
    many(Buffer.concat([onChannel(4, '{"Width":80,"Height":24}'), onChannel(0, Buffer.alloc(200))]), 2_000),
  ),
  flooding('exec, sizes of a terminal alone', v5, many(onChannel(4, '{"Width":80,"Height":24}'), 10_000)),
  flooding('exec, channels that are none', v5, many(onChannel(200, 'x'), 10_000)),
  flooding('exec, handed on as it is', v4, many(onChannel(0, 'x'), 10_000)),
  flooding('port-forward in a tunnel, pings', tunnel, frame(binary, many(spdyPing, 5_000))),
  flooding('port-forward over SPDY, pings', (target) => spdy(target, forward, 'portforward.k8s.io'), many(spdyPing, 10_000)),
  {
    name: 'streams, 50 of a node that floods the apiserver with SPDY pings',
    prepare: (target) => addKubelet(target, pings),
    run: (target) => flood(target, 50, v5, onChannel(0, 'x')),
  },
  {
    name: 'streams, 1,000 of exec that say nothing',
    prepare: (target) => addKubelet(target),
    async run(target) {
      const until = performance.now() + target.seconds * 1000;
      for (let at = 0; at < 1_000 && performance.now() < until + 20_000; at += 50) await all(50, () => v5(target));
      await pause(Math.max(0, until - performance.now()));
    },
  },
  {
    name: 'streams, 500 logs that nobody reads',
    prepare: (target) => addKubelet(target),
    async run(target) {
      const until = performance.now() + target.seconds * 1000;
      for (let at = 0; at < 500; at += 50)
        await all(50, async () => {
          const socket = await target.clients.openTls();
          socket.pause();
          socket.write(`GET ${log} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${target.tenantToken}\r\n\r\n`);
        });
      await pause(Math.max(0, until - performance.now()));
    },
  },
];
