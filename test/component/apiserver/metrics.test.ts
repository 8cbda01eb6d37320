// What /metrics of the apiserver tells, by upstream's names, and that no client can make it grow.
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import { gitVersion } from '#component-base';
import type { KubeApiServer } from '#apiserver/app';
import { silentLogger } from '#utils';
import { startApiServer } from '../../support/api-server.ts';

let server: KubeApiServer;

beforeAll(async () => {
  server = await startApiServer(silentLogger, { disableAdmissionPlugins: ['ServiceAccount'] });
});
afterAll(async () => {
  await server.close();
});

/** One request over a connection, as administrator unless it is said otherwise. */
function ask(
  path: string,
  { method = 'GET', body, token = server.loopbackToken }: { method?: string; body?: object; token?: string } = {},
) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request(`${server.url}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, text: answer }), reject);
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** The series of a family, with the value of each. */
async function series(name: string, path = '/metrics'): Promise<Map<string, number>> {
  const { text: exposed } = await ask(path);
  const lines = exposed.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return new Map(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const object = (name: string): UnknownObject =>
  ({ metadata: { name }, data: { a: 'x'.repeat(1000) } }) as unknown as UnknownObject;

it('requests, what they carry, admission, the store and watches are counted', async () => {
  expect((await ask(configMaps, { method: 'POST', body: object('a') })).status).toBe(201);
  expect((await ask(configMaps)).status).toBe(200);
  expect((await ask(configMaps, { token: 'wrong' })).status).toBe(401);
  expect((await ask(`${configMaps}?watch=1&timeoutSeconds=1`)).text).toContain('"ADDED"');
  const of = async (name: string, ...parts: string[]): Promise<number> =>
    [...(await series(name))]
      .filter(([labels]) => parts.every((part) => labels.includes(part)))
      .reduce((sum, [, value]) => sum + value, 0);
  const about = ['resource="configmaps"'];
  expect(await of('apiserver_request_total', ...about, 'verb="POST"', 'code="201"')).toBe(1);
  expect(await of('apiserver_request_sli_duration_seconds_count', ...about, 'verb="LIST"')).toBeGreaterThan(0);
  expect(await of('apiserver_response_sizes_sum', ...about, 'verb="LIST"')).toBeGreaterThan(1000);
  expect(await of('apiserver_request_body_size_bytes_sum', ...about, 'verb="create"')).toBeGreaterThan(1000);
  expect(await of('apiserver_longrunning_requests', ...about, 'verb="WATCH"')).toBe(0);
  expect(await of('apiserver_watch_events_total', ...about)).toBeGreaterThan(0);
  expect(
    await of('apiserver_admission_controller_admission_duration_seconds_count', 'name="NamespaceLifecycle"', 'type="admit"'),
  ).toBeGreaterThan(0);
  expect(
    await of('apiserver_admission_step_admission_duration_seconds_count', 'type="validate"', 'operation="CREATE"'),
  ).toBeGreaterThan(0);
  expect(await of('etcd_requests_total', ...about, 'operation="create"')).toBeGreaterThan(0);
  expect(await of('apiserver_resource_objects', ...about)).toBeGreaterThan(0);
  expect(await of('apiserver_watch_cache_events_received_total', ...about)).toBeGreaterThan(0);
  expect(await of('authentication_attempts', 'result="failure"')).toBe(1);
  expect(await of('authorization_attempts_total', 'result="allowed"')).toBeGreaterThan(0);
  expect(await of('process_resident_memory_bytes')).toBeGreaterThan(0);
  expect(await of('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(await of('kubernetes_build_info', 'major="1"', 'minor="36"', `git_version="${gitVersion}"`)).toBe(1);
});

it('each health check is told at /metrics/slis', async () => {
  const checks = await series('kubernetes_healthcheck', '/metrics/slis');
  expect(checks.get('{name="ping",type="livez"}')).toBe(1);
  expect((await series('kubernetes_healthchecks_total', '/metrics/slis')).size).toBeGreaterThan(0);
});

it('what a client makes up adds no series', async () => {
  const seen = async (): Promise<number> =>
    (await ask('/metrics')).text.split('\n').filter((line) => line.startsWith('apiserver_')).length;
  const tryAll = async (at: number): Promise<void> => {
    for (const token of [server.loopbackToken, 'wrong']) {
      await ask(`/apis/g${at}.example.com/v1/things`, { token });
      await ask(`/api/v1/namespaces/n${at}/things${at}/x/sub${at}`, { token });
      await ask(`${configMaps}/x/sub${at}`, { token });
      await ask(`${configMaps}?dryRun=d${at}`, { method: 'POST', body: object('b'), token });
      await ask(`/made/up/${at}`, { token });
    }
  };
  await tryAll(0);
  await ask('/metrics');
  const before = await seen();
  for (let at = 1; at < 5; at++) await tryAll(at);
  expect(await seen()).toBe(before);
});
