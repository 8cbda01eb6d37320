// What scenarios fetch from where Kubernetes publishes its sources, out of the sources that are pinned here: theirs would be those of another day, and not
// every machine reaches them. kubectl finds it as a proxy of its environment.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';

const host = 'raw.githubusercontent.com';
const published = /^\/kubernetes\/kubernetes\/master\/([\w./-]+)$/;

/** Serves the files of `sources`. Answers `{ env, close }`: `env` is what a program needs to find them. */
export async function publish({ must }, sources, dir) {
  const [key, certificate] = [join(dir, 'published.key'), join(dir, 'published.crt')];
  const named = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  await must('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate, ...named]);
  const files = createSecureServer({ key: readFileSync(key), cert: readFileSync(certificate) }, ({ url }, answer) => {
    const [, name] = published.exec(url) ?? [];
    const found = name && existsSync(join(sources, name));
    answer.writeHead(found ? 200 : 404).end(found ? readFileSync(join(sources, name)) : '');
  });
  const proxy = createServer((_, answer) => answer.writeHead(502).end());
  proxy.on('connect', ({ url }, socket) => {
    socket.on('error', () => socket.destroy());
    if (url !== `${host}:443`) return socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    files.emit('connection', socket);
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.address().port}`, NO_PROXY: '127.0.0.1,localhost', SSL_CERT_FILE: certificate };
  const close = () => {
    proxy.close();
    proxy.closeAllConnections();
    files.closeAllConnections();
  };
  return { env, close };
}
