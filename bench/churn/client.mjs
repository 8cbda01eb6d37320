// Requests to the cluster. What fails in an account's is an answer of status 0.
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { parse } from 'yaml';

const patienceMs = 30_000;

/** One account's requests: JSON over connections that stay open. */
export function account({ port, token, maxSockets = 8 }) {
  const agent = new https.Agent({ keepAlive: true, maxSockets, rejectUnauthorized: false });
  const send = (method, path, body, type = 'application/json') =>
    new Promise((done) => {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      // Said here, because Node says no length for the body of a DELETE.
      const length = text !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(text) };
      const headers = { authorization: `Bearer ${token}`, ...length };
      const sent = https.request({ host: '127.0.0.1', port, path, method, headers, agent, timeout: patienceMs }, (response) => {
        let answer = '';
        response.on('data', (chunk) => {
          if (answer.length < 1_000_000) answer += chunk;
        });
        response.on('close', () => done({ status: response.complete ? response.statusCode : 0, text: answer }));
      });
      sent.on('timeout', () => sent.destroy());
      sent.on('error', () => done({ status: 0, text: '' }));
      sent.end(text);
    });
  return { send, close: () => agent.destroy() };
}

/** The requests of the user of a kubeconfig, which has a certificate. They are rejected where there is no answer. */
export function administrator({ kubeconfig, port }) {
  const config = parse(readFileSync(kubeconfig, 'utf8'));
  const pem = (text) => Buffer.from(text, 'base64');
  const { user } = config.users[0];
  const ca = pem(config.clusters[0].cluster['certificate-authority-data']);
  const identity = { ca, cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) };
  const agent = new https.Agent({ keepAlive: true, ...identity });
  return (method, path, body) =>
    new Promise((done, failed) => {
      const headers = { 'content-type': 'application/json' };
      const sent = https.request({ agent, host: '127.0.0.1', port, path, method, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => done({ status: response.statusCode, value: text.startsWith('{') ? JSON.parse(text) : text }));
      });
      sent.on('error', failed);
      sent.end(body && JSON.stringify(body));
    });
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));
export const mergePatch = 'application/merge-patch+json';
