// Connections that say nothing, too little, or never end; and answers that nobody reads.
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const all = (count, each) => Promise.all(Array.from({ length: count }, (_, at) => each(at)));

/** Opens what `each` opens, 100 at a time, as long as the attack lasts. */
async function flood({ seconds }, count, each) {
  const until = performance.now() + seconds * 1000;
  for (let at = 0; at < count && performance.now() < until; at += 100) await all(100, each);
  await pause(Math.max(0, until - performance.now()));
}

export default [
  {
    name: '2,000 silent TCP connections',
    run: (target) => flood(target, 2000, () => target.clients.openTcp()),
  },
  {
    name: '1,000 TLS connections without a request',
    run: (target) => flood(target, 1000, () => target.clients.openTls()),
  },
  {
    name: '1,000 half headers',
    run: (target) =>
      flood(target, 1000, async () => {
        const socket = await target.clients.openTls();
        socket.write('GET /api HTTP/1.1\r\nHost: x\r\nX-A');
      }),
  },
  {
    name: '500 requests whose answer nobody reads, HTTP/1.1',
    run: (target) =>
      flood(target, 500, async () => {
        const socket = await target.clients.openTls();
        socket.pause();
        const get = `GET /openapi/v2 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${target.token}\r\n\r\n`;
        socket.write(get.repeat(50));
      }),
  },
  {
    name: '500 answers behind a window of 0, HTTP/2',
    run: async (target) => {
      await all(5, async () => {
        const session = await target.clients.openHttp2({ settings: { initialWindowSize: 0 } });
        const headers = { ':path': '/openapi/v2', authorization: `Bearer ${target.token}` };
        for (let i = 0; i < 100; i++) target.clients.stream(session, headers);
      });
      await pause(target.seconds * 1000);
    },
  },
  {
    name: 'garbage instead of TLS',
    run: (target) =>
      flood(target, 2000, async (at) => {
        const socket = await target.clients.openTcp();
        socket.on('data', () => {});
        socket.write(Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 131 + at * 7) % 256)));
      }),
  },
];
