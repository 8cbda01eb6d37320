// Priority and fairness over the real apiserver: who floods it waits for himself, and what is configured takes effect.
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';

const users = [
  'admin,admin,1,system:masters',
  'attacker,attacker,2,tenants',
  'other,other,3,tenants',
  'node,system:node:one,4,system:nodes',
  'scheduler,system:kube-scheduler,5,',
];

let server: KubeApiServer;
let session: ClientHttp2Session;
const attackers: ClientHttp2Session[] = [];
beforeEach(async () => {
  server = await runKubeApiServer(
    {
      ...defaultOptions(),
      bindAddress: '127.0.0.1',
      securePort: 0,
      maxRequestsInFlight: 40,
      maxMutatingRequestsInFlight: 20,
      requestTimeoutMs: 8_000,
      tokenFile: users.join('\n'),
    },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
  session = connect(server.url, { rejectUnauthorized: false });
});
afterEach(async () => {
  for (const one of attackers.splice(0)) one.destroy();
  session.destroy();
  await server.close();
});

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  let body = '';
  for await (const chunk of stream) body += String(chunk);
  return { status: Number(headers[':status']), headers, body };
}

function send(token: string, method: string, path: string, body?: object): Promise<Answer> {
  const stream = session.request({
    ':method': method,
    ':path': path,
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  });
  stream.end(body === undefined ? undefined : JSON.stringify(body));
  return answerOf(stream);
}

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const review = { spec: { nonResourceAttributes: { verb: 'get', path: '/' } } };
const write = async (token: string): Promise<number> => (await send(token, 'POST', reviews, review)).status;
const metric = async (line: RegExp): Promise<number> =>
  Number(line.exec((await send('admin', 'GET', '/metrics')).body)?.[1] ?? 0);

/** Requests whose bodies never end; the statuses of those that are answered. */
function flood(count: number): number[] {
  const statuses: number[] = [];
  for (let part = 0; part < count; part += 50) {
    const own = connect(server.url, { rejectUnauthorized: false });
    own.on('error', () => {});
    attackers.push(own);
    for (let i = 0; i < 50; i++) {
      const stream = own.request({
        ':method': 'POST',
        ':path': reviews,
        authorization: 'Bearer attacker',
        'content-type': 'application/json',
      });
      stream.on('error', () => {}).on('response', (headers) => statuses.push(Number(headers[':status'])));
      stream.write('{');
    }
  }
  return statuses;
}

it('a flood of one tenant leaves nodes, leaders and administrators unhindered, and tells the tenant to come later', async () => {
  const statuses = flood(700);
  const full =
    /apiserver_flowcontrol_current_inqueue_requests\{priority_level="global-default",flow_schema="global-default"\} (\d+)/;
  await vi.waitFor(async () => expect(await metric(full)).toBeGreaterThan(100), { timeout: 10_000 });
  for (const token of ['admin', 'node', 'scheduler']) for (let i = 0; i < 10; i++) expect(await write(token)).toBe(201);
  await vi.waitFor(() => expect(statuses).toContain(429), { timeout: 10_000 });
  // When the seats of those that hang are free again, the other tenant is among the next; on a slow machine the wait may end before, with 429.
  await vi.waitFor(async () => expect(await write('other')).toBe(201), { timeout: 30_000 });
  for (const one of attackers.splice(0)) one.destroy();
  await vi.waitFor(async () => expect(await metric(full)).toBe(0), { timeout: 15_000 });
  expect(await write('attacker')).toBe(201);
});

it('who keeps all seats of a level by bodies that never end keeps nobody else waiting there', async () => {
  flood(200);
  await expect
    .poll(() => metric(/current_executing_seats\{[^}]*priority_level="global-default"[^}]*\} (\d+)/))
    .toBeGreaterThan(3);
  const since = performance.now();
  for (let round = 0; round < 5; round++) expect(await write('other')).toBe(201);
  expect(performance.now() - since).toBeLessThan(6_000);
});

it('answers say which schema and level they were served at', async () => {
  const uid = async (kind: string, name: string): Promise<unknown> =>
    (
      JSON.parse((await send('admin', 'GET', `/apis/flowcontrol.apiserver.k8s.io/v1/${kind}/${name}`)).body) as {
        metadata: { uid: string };
      }
    ).metadata.uid;
  const { headers } = await send('node', 'GET', '/api/v1/nodes');
  expect(headers).toMatchObject({
    'x-kubernetes-pf-flowschema-uid': await uid('flowschemas', 'system-node-high'),
    'x-kubernetes-pf-prioritylevel-uid': await uid('prioritylevelconfigurations', 'node-high'),
  });
});

it('a level and a schema of one’s own take effect: it refuses what it may not queue', async () => {
  const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
  const limited = {
    nominalConcurrencyShares: 0,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  };
  expect(
    (
      await send('admin', 'POST', `${group}/prioritylevelconfigurations`, {
        metadata: { name: 'jail' },
        spec: { type: 'Limited', limited },
      })
    ).status,
  ).toBe(201);
  const rules = [
    {
      subjects: [{ kind: 'User', user: { name: 'attacker' } }],
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    },
  ];
  const spec = { matchingPrecedence: 50, priorityLevelConfiguration: { name: 'jail' }, rules };
  expect((await send('admin', 'POST', `${group}/flowschemas`, { metadata: { name: 'jail' }, spec })).status).toBe(201);
  flood(50);
  await vi.waitFor(async () => expect((await send('attacker', 'POST', reviews, review)).status).toBe(429), { timeout: 10_000 });
  const refused = await send('attacker', 'POST', reviews, review);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(JSON.parse(refused.body)).toMatchObject({
    reason: 'TooManyRequests',
    message: 'Too many requests, please try again later.',
  });
  expect(
    await metric(/rejected_requests_total\{priority_level="jail",flow_schema="jail",reason="concurrency-limit"\} (\d+)/),
  ).toBeGreaterThan(0);
});

it('dumps what is at the levels, to administrators', async () => {
  flood(50);
  const path = '/debug/api_priority_and_fairness';
  expect((await send('other', 'GET', `${path}/dump_requests`)).status).toBe(403);
  await vi.waitFor(
    async () =>
      expect((await send('admin', 'GET', `${path}/dump_requests?includeRequestDetails=1`)).body).toMatch(
        /global-default, +global-default, +\d+, +-?\d+, +attacker,.* attacker, +create,/,
      ),
    { timeout: 10_000 },
  );
  const levels = (await send('admin', 'GET', `${path}/dump_priority_levels`)).body.split('\n');
  expect(levels[0]).toMatch(/^PriorityLevelName, +ActiveQueues, +IsIdle, +IsQuiescing, +WaitingRequests, +ExecutingRequests,/);
  expect(levels.find((line) => line.startsWith('exempt,'))).toMatch(/^exempt, +0, +false, +false, +0, +1,/);
  expect((await send('admin', 'GET', `${path}/dump_queues`)).body).toContain('NextDispatchR');
});
