// A node that accepts every exec, attach and port-forward, and does with the connection what the attack needs: nothing at all, or words without an
// end. The kubelet speaks no protocol beyond the switch, so what is measured is the apiserver between it and the client.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const space = '/api/v1/namespaces/tenant/pods';

function certificate() {
  const folder = mkdtempSync(join(tmpdir(), 'sagong-kubelet-'));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const subject = ['-subj', '/CN=kubelet', '-days', '2', '-nodes'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  const pair = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return pair;
}

/** Serves, and puts a node and a running pod `p` of the tenant there. `talk(socket)` is called for each connection that was switched. */
export async function addKubelet(target, talk = () => {}) {
  const server = https.createServer(certificate());
  server.on('upgrade', (request, socket) => {
    target.keep(socket);
    socket.on('error', () => {});
    const offered = String(request.headers['x-stream-protocol-version'] ?? '');
    const protocol = offered.split(',')[0].trim();
    const names = protocol ? `X-Stream-Protocol-Version: ${protocol}\r\n` : '';
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${names}\r\n`);
    talk(socket);
  });
  server.on('request', (request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    // As much as a stalled reader lets in, and not so much that this process is the one that is busy.
    if (request.url.startsWith('/containerLogs/')) response.write('x'.repeat(8 * 1024 * 1024));
    else response.end();
  });
  server.on('secureConnection', (socket) => target.keep(socket));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  target.keep({ destroy: () => server.close() });
  const options = { token: target.adminToken };
  await target.ask('POST', '/api/v1/nodes', { metadata: { name: 'n' } }, options);
  const status = {
    status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: port } } },
  };
  const merge = { ...options, contentType: 'application/merge-patch+json' };
  await target.ask('PATCH', '/api/v1/nodes/n/status', status, merge);
  const container = { name: 'c', image: 'i', stdin: true, tty: true };
  await target.ask('POST', space, { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [container] } }, options);
  const running = { status: { phase: 'Running', podIP: '10.0.0.1' } };
  const { status: code, text } = await target.ask('PATCH', `${space}/p/status`, running, merge);
  if (code !== 200) throw new Error(`no running pod: ${code} ${text}`);
}

export const exec = `${space}/p/exec?command=sh&stdin=true&stdout=true&tty=true&container=c`;
export const forward = `${space}/p/portforward?ports=80`;
export const log = `${space}/p/log?follow=true&container=c`;
