// Failures of a test cluster's API, as clients in memory and clients over TLS meet them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { clientConfigOf, createClient, createRestTransport, type KubeClient, type Kubeconfig } from '#client';
import { systemClock } from '#host';
import { startCluster, type TestCluster } from '#testing';

type ConfigMap = KubeObject & { data?: Record<string, string> };
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
let cluster: TestCluster;
let wire: KubeClient;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 0 });
  const config = clientConfigOf(parse(cluster.kubeconfig) as Kubeconfig);
  wire = createClient(createRestTransport({ config, clock: systemClock(), userAgent: 'test' }));
});
afterEach(() => cluster.faults.clear());
afterAll(async () => {
  wire.transport.close();
  await cluster.stop();
});

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'ok',
    (error: unknown) => (error instanceof StatusError ? error.status.code : 'no answer'),
  );

describe.each<[string, () => KubeClient]>([
  ['in memory', () => cluster.client],
  ['over TLS', () => wire],
])('a client %s', (way, client) => {
  const maps = () => client().resource<ConfigMap>(configMaps, 'default');
  const name = way.replaceAll(' ', '-').toLowerCase();

  it('meets conflicts, throttling, errors and outages', async () => {
    const made = await maps().create({ metadata: { name }, data: {} });
    const rule = cluster.faults.inject({ fault: { kind: 'conflict' }, resources: ['configmaps'], times: 1 });
    expect(await codeOf(maps().update({ ...made, data: { a: '1' } }))).toBe(409);
    expect(await codeOf(maps().update({ ...made, data: { a: '1' } }))).toBe('ok');
    expect(rule.happened).toBe(1);
    cluster.faults.inject({ fault: { kind: 'throttle', retryAfterSeconds: 3 }, verbs: ['list'] });
    const refused = await maps()
      .list()
      .catch((error: unknown) => error);
    expect((refused as StatusError).status).toMatchObject({ code: 429, details: { retryAfterSeconds: 3 } });
    cluster.faults.inject({ fault: { kind: 'error', code: 503, reason: 'ServiceUnavailable' }, verbs: ['get'] });
    expect(await codeOf(maps().get(name))).toBe(503);
    cluster.faults.clear();
    cluster.faults.inject({ fault: { kind: 'outage' }, resources: ['configmaps'] });
    expect(await codeOf(maps().get(name))).toBe('no answer');
    cluster.faults.clear();
    expect(await codeOf(maps().get(name))).toBe('ok');
  });

  it('loses answers to writes that were done', async () => {
    cluster.faults.inject({ fault: { kind: 'lost-answer' }, verbs: ['create'], times: 1 });
    expect(await codeOf(maps().create({ metadata: { name: `${name}-lost` } }))).toBe('no answer');
    expect(await codeOf(maps().get(`${name}-lost`))).toBe('ok');
  });

  it('has its watches broken off, at once or after a while', async () => {
    const open = async (): Promise<Promise<void>[]> => {
      const stream = await maps().watch();
      // A promise would be waited for here.
      return [
        new Promise<void>((resolve) =>
          stream.subscribe(
            () => {},
            () => resolve(),
          ),
        ),
      ];
    };
    const [first] = await open();
    expect(cluster.faults.dropWatches({ resources: ['pods'], users: ['kubernetes-admin'] })).toBe(0);
    expect(cluster.faults.dropWatches({ resources: ['configmaps'] })).toBe(1);
    await first;
    cluster.faults.inject({ fault: { kind: 'drop-watch', afterMs: 20 } });
    const [second] = await open();
    await second;
  });
});

it('meets only whom it is meant for', async () => {
  const other = cluster.clientFor({ name: 'other', groups: ['system:masters', 'system:authenticated'] });
  cluster.faults.inject({ fault: { kind: 'error' }, users: ['other'] });
  expect(await codeOf(other.resource(configMaps, 'default').list())).toBe(500);
  expect(await codeOf(cluster.client.resource(configMaps, 'default').list())).toBe('ok');
});
