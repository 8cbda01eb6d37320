// Patches that make an object, its status or its Scale call itself something else than what the path names: upstream's refusals, word by word.
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeApiServer } from '#apiserver/app';
import { startApiServer } from '../../support/api-server.ts';

let server: KubeApiServer;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const path = '/apis/apps/v1/namespaces/default/deployments';
const where = 'in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"';

interface Answer {
  status: number | undefined;
  warning: unknown;
  message: string | undefined;
}

function ask(method: string, target: string, type: string, body: object): Promise<Answer> {
  const headers = { authorization: 'Bearer admin', 'content-type': type };
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({ port: server.wire.port, method, path: target, agent, headers }, (response) => {
      let said = '';
      response.on('data', (chunk: Buffer) => (said += chunk.toString()));
      response.on('end', () => {
        const { message } = JSON.parse(said) as { message?: string };
        resolve({ status: response.statusCode, warning: response.headers['warning'], message });
      });
    });
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

/** What is told of a patch, without the text of the result that a refusal shows. */
async function told(door: string, body: object, validation = 'Warn'): Promise<unknown[]> {
  const target = `${path}/named${door}?dryRun=All&fieldValidation=${validation}`;
  const { status, message, warning } = await ask('PATCH', target, 'application/merge-patch+json', body);
  return [status, message?.replace(/^.*\}": /, ''), warning];
}

beforeAll(async () => {
  server = await startApiServer();
  const labels = { app: 'named' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { selector: { matchLabels: labels }, template };
  await ask('POST', path, 'application/json', { metadata: { name: 'named' }, spec });
});
afterAll(async () => {
  agent.destroy();
  await server?.close();
});

it.each([
  ['', 'apps'],
  ['/status', 'apps'],
  ['/scale', 'autoscaling'],
])('what a patch of deployments/named%s makes has its kind and version', async (door, group) => {
  const other = `no kind "Other" is registered for version "${group}/v1" ${where}`;
  expect(await told(door, { kind: 'Other' })).toEqual([422, other, undefined]);
  expect(await told(door, { apiVersion: 'a/b/c' })).toEqual([422, 'unexpected GroupVersion string: a/b/c', undefined]);
  const [status, message] = await told(door, { apiVersion: null, kind: 'Other' });
  expect([status, message]).toEqual([422, `no kind "Other" is registered for the internal version of group "${group}" ${where}`]);
});

it.each(['', '/status', '/scale'])('a patch of deployments/named%s that takes the version away', async (door) => {
  const unknown = ['metadata', 'spec', 'status'].map((field) => `unknown field "${field}"`);
  const warned = unknown.map((text) => `299 - ${JSON.stringify(text)}`).join(', ');
  const nameless = 'the name of the object (named based on URL) was undeterminable: name must be provided';
  expect(await told(door, { apiVersion: null })).toEqual([400, nameless, warned]);
  expect(await told(door, { apiVersion: null }, 'Ignore')).toEqual([400, nameless, undefined]);
  const [status, message] = await told(door, { apiVersion: null }, 'Strict');
  expect([status, message]).toEqual([422, `strict decoding error: ${unknown.join(', ')}`]);
});
