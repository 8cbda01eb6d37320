// Which of two things that are wrong with a write is told, what is said of options in the body of a DELETE, and of headers that are odd, as upstream's apiserver does.
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeApiServer } from '#apiserver/app';
import { startApiServer } from '../../support/api-server.ts';

let server: KubeApiServer;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const maps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';

interface Answer {
  status: number;
  message: string;
  warning: unknown;
  manager: string | undefined;
}

function ask(method: string, path: string, body: string | undefined, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': Buffer.byteLength(body ?? '') };
    const all = { authorization: 'Bearer admin', ...length, ...headers };
    const sent = httpsRequest({ port: server.wire.port, method, path, agent, headers: all }, (response) => {
      let said = '';
      response.on('data', (chunk: Buffer) => (said += chunk.toString()));
      response.on('end', () => {
        const { message = '', metadata } = JSON.parse(said) as {
          message?: string;
          metadata?: { managedFields?: { manager: string }[] };
        };
        const { statusCode = 0, headers: had } = response;
        resolve({ status: statusCode, message, warning: had['warning'], manager: metadata?.managedFields?.[0]?.manager });
      });
    });
    sent.on('error', reject).end(body === undefined ? undefined : Buffer.from(body));
  });
}

beforeAll(async () => {
  server = await startApiServer();
  await ask('POST', maps, '{"metadata":{"name":"a"}}', { 'content-type': 'application/json' });
});
afterAll(async () => {
  agent.destroy();
  await server?.close();
});

it.each([
  ['PATCH', `${maps}/a?dryRun=x`, '{bad', merge, 'dryRun: Unsupported value: ["x"]'],
  ['PATCH', `${maps}/none?fieldValidation=x`, '{bad', merge, 'fieldValidation: Unsupported value: "x"'],
  ['PATCH', `${maps}/a`, '{bad', apply, 'fieldManager: Required value'],
  ['PUT', `${maps}/a?dryRun=x`, '{bad', 'text/plain', 'dryRun: Unsupported value: ["x"]'],
])('%s %s: options are judged before the body is read', async (method, path, body, type, problem) => {
  const { status, message } = await ask(method, path, body, { 'content-type': type });
  expect([status, message]).toEqual([422, expect.stringContaining(problem)]);
});

it('of a new object the media type is judged before the options', async () => {
  expect((await ask('POST', `${maps}?dryRun=x`, '{bad', { 'content-type': 'text/plain' })).status).toBe(415);
});

it.each([
  ['application/json', '{bad', /^couldn't get version\/kind; json parse error: invalid character 'b'/],
  ['application/yaml', '[', /^yaml: line 1: did not find expected/],
  ['application/yaml', '[]', /^couldn't get version\/kind; json parse error: json: cannot unmarshal array/],
  ['application/vnd.kubernetes.protobuf', 'abcde', /^provided data does not appear to be a protobuf message/],
])('options of a DELETE in %s that cannot be read', async (type, body, words) => {
  const { status, message } = await ask('DELETE', `${maps}/none`, body, { 'content-type': type });
  expect([status, message]).toEqual([400, expect.stringMatching(words)]);
});

it('space before a bearer token is warned of', async () => {
  const { status, warning } = await ask('GET', maps, undefined, { authorization: 'Bearer  admin' });
  const text = 'the provided Authorization header contains extra space before the bearer token, and is ignored';
  expect([status, warning]).toEqual([403, `299 - "${text}"`]);
});

it.each([
  ['Bücher/1.2', 'Bücher'],
  ['日本\u200b語', '日本語'],
  ['é'.repeat(100), 'é'.repeat(64)],
])('the program of the user agent %s owns what it writes', async (agentText, manager) => {
  const headers = { 'content-type': 'application/json', 'user-agent': Buffer.from(agentText).toString('latin1') };
  expect((await ask('POST', `${maps}?dryRun=All`, '{"metadata":{"name":"b"},"data":{"a":"b"}}', headers)).manager).toBe(manager);
});
