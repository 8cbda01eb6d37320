// One account's requests: JSON over connections that stay open. What fails is an answer of status 0.
import https from 'node:https';

const patienceMs = 30_000;

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

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));
export const mergePatch = 'application/merge-patch+json';
