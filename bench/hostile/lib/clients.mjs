// What attackers speak with: plain TCP, TLS and HTTP/2 connections that do nothing by themselves. Whatever happens to them is theirs to bear:
// errors are swallowed, and all of them are destroyed when the attack is over.
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import https from 'node:https';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';

const ignore = () => {};
/** What is kept of an answer, which may have no end. */
const textLengthMax = 16 * 1024 * 1024;

/** Resolves when a socket or stream takes more, is closed, or after a second. */
export function writableAgain(stream) {
  return new Promise((done) => {
    const over = () => {
      clearTimeout(timer);
      stream.removeListener('drain', over);
      stream.removeListener('close', over);
      done();
    };
    const timer = setTimeout(over, 1000);
    stream.once('drain', over);
    stream.once('close', over);
  });
}

export function attackClients({ port }) {
  const kept = new Set();
  const keep = (thing) => {
    kept.add(thing);
    thing.once?.('close', () => kept.delete(thing));
    return thing;
  };
  const agent = new https.Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false });
  return {
    keep,
    /** Half open: it does not end when the server does. */
    async openTcp() {
      const socket = keep(connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true }));
      socket.on('error', ignore).on('end', ignore);
      await Promise.race([once(socket, 'connect').catch(ignore), once(socket, 'close')]);
      return socket;
    },
    async openTls({ protocol = 'http/1.1' } = {}) {
      const tcp = await this.openTcp();
      const socket = keep(connectTls({ socket: tcp, rejectUnauthorized: false, ALPNProtocols: [protocol] }));
      socket.on('error', ignore);
      await Promise.race([once(socket, 'secureConnect').catch(ignore), once(socket, 'close'), once(tcp, 'close')]);
      return socket;
    },
    async openHttp2(options = {}) {
      const session = keep(connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, ...options }));
      session.on('error', ignore);
      await Promise.race([once(session, 'connect').catch(ignore), once(session, 'close')]);
      return session;
    },
    /** A stream of a session whose errors concern nobody. */
    stream(session, headers, options) {
      if (session.closed || session.destroyed) return undefined;
      const stream = session.request(headers, options);
      stream.on('error', ignore).on('aborted', ignore);
      return stream;
    },
    ask(method, path, body, { token, contentType = 'application/json', headers = {}, timeoutMs = 60_000 } = {}) {
      return new Promise((done) => {
        const bytes = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
        const entity = bytes === undefined ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(bytes) };
        const all = { ...(token && { authorization: `Bearer ${token}` }), ...entity, ...headers };
        const options = { host: '127.0.0.1', port, path, method, headers: all, agent };
        const sent = https.request(options, async (response) => {
          let text = '';
          try {
            for await (const chunk of response) if (text.length < textLengthMax) text += chunk;
          } catch {
            return done({ status: 0, text });
          }
          done({ status: response.statusCode, text });
        });
        // In all, and not of silence alone: an answer may have no end.
        const late = setTimeout(() => sent.destroy(), timeoutMs);
        sent.on('close', () => clearTimeout(late));
        sent.on('error', () => done({ status: 0, text: '' }));
        sent.end(bytes);
      });
    },
    end() {
      for (const thing of kept) thing.destroy();
      agent.destroy();
    },
  };
}
