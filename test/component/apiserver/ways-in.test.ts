// One suite through every way in: the same request has the same fate whether it comes over HTTPS, over a transport in memory or on a raw path
// of this process. Where a way lacks what a case needs, the case says so.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import type { ConfigMap } from '#api/core/v1';
import { StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { type ApiCall, callBody, callPath, failureOf, httpMethod, type Transport } from '#apimachinery/transport';
import { type ClientConfig, createRestTransport } from '#client';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';

const requestTimeoutMs = 2_000;
const users = { alice: { groups: ['devs'] }, admin: { groups: ['system:masters'] } } as const;
type User = keyof typeof users;

let server: KubeApiServer;
let folder: string;
/** Requests whose name is here wait, when they are known and allowed, for the time limit or their client to end them. */
const held = new Map<string, () => void>();
let arrived = (_name: string): void => {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ways-'));
  const options = defaultOptions();
  const { audit } = options;
  const policyFile = join(folder, 'policy.yaml');
  await writeFile(policyFile, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }));
  const tokenFile = Object.entries(users).map(([name, { groups }]) => `${name},${name},${name},"${groups.join(',')}"`);
  server = await runKubeApiServer(
    {
      ...options,
      tokenFile: tokenFile.join('\n'),
      authorizationModes: ['RBAC'],
      requestTimeoutMs,
      maxRequestsInFlight: 1,
      enablePriorityAndFairness: false,
      audit: { ...audit, policyFile, log: { ...audit.log, path: join(folder, 'audit.log'), mode: 'blocking' } },
    },
    {
      clock: systemClock(),
      rng: systemRng(),
      logger: silentLogger,
      gate: {
        before: ({ target }) =>
          target?.name.startsWith('held')
            ? new Promise<void>((resolve) => {
                held.set(target.name, resolve);
                arrived(target.name);
              })
            : Promise.resolve(),
        connection: (_response, _path, serve) => serve(),
        transport: (inner) => inner,
      },
    },
  );
  await server.started;
  const admin = memory('admin');
  await admin.call({ ...maps, resource: 'namespaces', namespace: '', verb: 'create', object: { metadata: { name: 'ways' } } });
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespace: 'ways', verb: 'create' as const };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'update', 'patch'] }];
  await admin.call({ ...rbac, resource: 'roles', object: { metadata: { name: 'r' }, rules } });
  const subjects = [{ kind: 'User', name: 'alice', apiGroup: rbac.group }];
  const roleRef = { kind: 'Role', name: 'r', apiGroup: rbac.group };
  await admin.call({ ...rbac, resource: 'rolebindings', object: { metadata: { name: 'b' }, subjects, roleRef } });
});
afterAll(async () => {
  for (const release of held.values()) release();
  await server.close();
  await rm(folder, { recursive: true });
});

const maps = { group: '', version: 'v1', resource: 'configmaps', namespace: 'ways' };

const wire = (user: User): Transport =>
  createRestTransport({
    config: { server: server.url, ca: server.ca, token: user } as ClientConfig,
    clock: systemClock(),
    userAgent: 'tester/1',
  });
const memory = (user: User): Transport => server.transport({ name: user, groups: [...users[user].groups] }, 'tester/1');

/** Raw paths as a transport. */
function raw(user: User): Transport {
  const inner = memory(user);
  return {
    ...inner,
    async call<T>(call: ApiCall, signal?: AbortSignal): Promise<T> {
      const { status, text } = await inner.raw(httpMethod[call.verb], callPath(call), callBody(call)?.value, signal);
      if (status >= 400) throw failureOf({ status, text }, httpMethod[call.verb], call);
      return JSON.parse(text) as T;
    },
  };
}

/** The status of a GET over HTTPS with headers of one's own. */
async function statusOf(path: string, headers: Record<string, string>): Promise<number | undefined> {
  const asked = get(new URL(path, server.url), { ca: server.ca, headers });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('over HTTPS alone, where the client says who it is', () => {
  const path = '/api/v1/namespaces/ways/secrets';
  const authorization = 'Bearer admin';

  it('somebody without credentials may do nothing', async () => {
    expect(await statusOf(path, {})).toBe(403);
    expect(await statusOf(path, { authorization: 'Bearer nobody' })).toBe(401);
  });

  it('who acts as another has their rights, and nobody acts as another who may not', async () => {
    expect(await statusOf(path, { authorization })).toBe(200);
    expect(await statusOf(path, { authorization, 'impersonate-user': 'alice' })).toBe(403);
    expect(await statusOf(path, { authorization: 'Bearer alice', 'impersonate-user': 'admin' })).toBe(403);
    expect(await statusOf(path, { authorization, 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' })).toBe(200);
  });
});

const ways: [name: string, open: (user: User) => Transport][] = [
  ['over HTTPS', wire],
  ['in memory', memory],
  ['on a raw path', raw],
];

describe.each(ways)('%s', (way, open) => {
  const isRaw = way === 'on a raw path';
  const name = (text: string): string => `${text}-${way.replace(/\W+/g, '').toLowerCase()}`;
  const as = async <T = ConfigMap>(
    user: User,
    call: Partial<ApiCall> & Pick<ApiCall, 'verb'>,
    signal?: AbortSignal,
  ): Promise<T> => {
    const transport = open(user);
    try {
      return await transport.call<T>({ ...maps, ...call }, signal);
    } finally {
      transport.close();
    }
  };
  const failure = async (work: Promise<unknown>) => {
    try {
      await work;
    } catch (error) {
      if (error instanceof StatusError) return [error.status.code, error.status.reason];
      throw error;
    }
    return 'none';
  };
  const map = (of: string, data: Record<string, string> = {}, labels = {}) => ({ metadata: { name: of, labels }, data });
  const events = async (): Promise<{ stage: string; verb: string; requestURI: string; responseStatus?: { code: number } }[]> =>
    (await readFile(join(folder, 'audit.log'), 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));

  it('a user does what they may, and nothing else', async () => {
    expect((await as('alice', { verb: 'create', object: map(name('own')) })).metadata).toMatchObject({ namespace: 'ways' });
    expect(await failure(as('alice', { verb: 'delete', name: name('own') }))).toEqual([403, 'Forbidden']);
    expect(await failure(as('alice', { verb: 'get', resource: 'secrets', name: 'x' }))).toEqual([403, 'Forbidden']);
    await as('admin', { verb: 'delete', name: name('own') });
  });

  it('failures have the same codes and reasons', async () => {
    expect(await failure(as('alice', { verb: 'get', name: 'none' }))).toEqual([404, 'NotFound']);
    expect(await failure(as('alice', { verb: 'create', object: map('Not A Name') }))).toEqual([422, 'Invalid']);
    await as('alice', { verb: 'create', object: map(name('twice')) });
    expect(await failure(as('alice', { verb: 'create', object: map(name('twice')) }))).toEqual([409, 'AlreadyExists']);
    const admit = { verb: 'create', namespace: 'absent', object: map('x') } as const;
    expect(await failure(as('admin', admit)), 'admission').toEqual([404, 'NotFound']);
    expect(await failure(as('alice', { verb: 'list', options: { resourceVersionMatch: 'Exact' } }))).toEqual([422, 'Invalid']);
    const elsewhere = { group: 'none.example.com', resource: 'things' };
    expect((await failure(as('admin', { verb: 'list', ...elsewhere })))[0]).toBe(404);
  });

  it('lists by labels, in pages, with the same metadata', async () => {
    for (const at of ['a', 'b', 'c']) await as('alice', { verb: 'create', object: map(name(at), {}, { of: name('list') }) });
    const options = { labelSelector: `of=${name('list')}`, limit: 2 };
    type List = { kind: string; metadata: { continue?: string }; items: KubeObject[] };
    const first = await as<List>('alice', { verb: 'list', options });
    expect([first.kind, first.items.length]).toEqual(['ConfigMapList', 2]);
    const rest = await as<List>('alice', { verb: 'list', options: { ...options, continue: first.metadata.continue ?? '' } });
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual([name('c')]);
  });

  it('is refused where its target is too long, which only a client over a connection can send', async () => {
    const labelSelector = `of=none,${Array.from({ length: 5_000 }, (_, at) => `l${at}!=value`).join(',')}`;
    const list = failure(as('alice', { verb: 'list', options: { labelSelector } }));
    expect(await list).toEqual(way === 'over HTTPS' ? [414, undefined] : 'none');
  });

  it('a dry run leaves nothing behind', async () => {
    const dry = await as('alice', { verb: 'create', object: map(name('dry')), options: { dryRun: true } });
    expect(dry.metadata?.uid).toBeTruthy();
    expect(await failure(as('alice', { verb: 'get', name: name('dry') }))).toEqual([404, 'NotFound']);
  });

  it('records the field manager of the user agent, or the one that is named', async () => {
    const managers = ({ metadata }: ConfigMap) => metadata?.managedFields?.map(({ manager }) => manager);
    const named = { verb: 'create', object: map(name('named'), { a: 'b' }), options: { fieldManager: 'me' } } as const;
    expect(managers(await as('alice', named))).toEqual(['me']);
    const other = await as('alice', { verb: 'create', object: map(name('agent'), { a: 'b' }) });
    expect(managers(other)).toEqual([isRaw ? 'unknown' : 'tester']);
  });

  // A raw path has no header for the media type of a patch.
  it.skipIf(isRaw)('patches and applies', async () => {
    await as('alice', { verb: 'create', object: map(name('patched'), { a: '1', b: '2' }) });
    const merge = { type: 'application/merge-patch+json', body: { data: { a: null, c: '3' } } } as const;
    expect((await as('alice', { verb: 'patch', name: name('patched'), patch: merge })).data).toEqual({ b: '2', c: '3' });
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: name('patched') }, data: { c: 'mine' } };
    const apply = { verb: 'patch', name: name('patched'), patch: { type: 'application/apply-patch+yaml', body } } as const;
    expect(await failure(as('alice', { ...apply, options: { fieldManager: 'me' } }))).toEqual([409, 'Conflict']);
    expect((await as('alice', { ...apply, options: { fieldManager: 'me', force: true } })).data).toEqual({ b: '2', c: 'mine' });
  });

  // A raw path is answered when its answer is over.
  it.skipIf(isRaw)('watches', async () => {
    const transport = open('alice');
    const { metadata } = await as<{ metadata: { resourceVersion: string } }>('alice', { verb: 'list' });
    const stream = await transport.watch({ ...maps, options: { resourceVersion: metadata.resourceVersion } });
    const seen = new Promise<unknown>((resolve) =>
      stream.subscribe(
        ({ type, object }) => resolve([type, object.metadata.name]),
        () => {},
      ),
    );
    await as('alice', { verb: 'create', object: map(name('watched')) });
    expect(await seen).toEqual(['ADDED', name('watched')]);
    stream.stop();
    transport.close();
  });

  it('is in the audit log from the request to the answer', async () => {
    await as('alice', { verb: 'create', object: map(name('logged')) });
    await failure(as('alice', { verb: 'get', name: name('unlogged') }));
    const told = async (uri: RegExp) =>
      (await events())
        .filter(({ requestURI }) => uri.test(requestURI))
        .map(({ stage, verb, responseStatus }) => `${stage} ${verb} ${responseStatus?.code ?? '-'}`);
    expect(await told(new RegExp(`/api/v1/namespaces/ways/configmaps/${name('unlogged')}$`))).toEqual([
      'RequestReceived get -',
      'ResponseComplete get 404',
    ]);
  });

  it('is counted, by what it asked for and how it ended', async () => {
    const count = async (): Promise<number> => {
      const { text } = await memory('admin').raw('GET', '/metrics');
      const wanted = ['apiserver_request_total{', 'code="404"', 'resource="configmaps"', 'verb="GET"'];
      const lines = text.split('\n').filter((line) => wanted.every((part) => line.includes(part)));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').pop()), 0);
    };
    const before = await count();
    expect(await failure(as('alice', { verb: 'get', name: 'none' }))).toEqual([404, 'NotFound']);
    expect(await count()).toBe(before + 1);
  });

  it('has an end when its time is over', async () => {
    expect(await failure(as('alice', { verb: 'get', name: name('held-late') }))).toEqual([504, 'Timeout']);
  });

  it('is let in beside others: clients over connections up to the bound, components of this process always', async () => {
    const one = new Promise<void>((resolve) => {
      arrived = (which) => which === name('held-seat') && resolve();
    });
    const first = failure(as('alice', { verb: 'get', name: name('held-seat') }));
    await one;
    const second = await failure(as('alice', { verb: 'get', name: 'none' }));
    expect(second).toEqual(way === 'over HTTPS' ? [429, 'TooManyRequests'] : [404, 'NotFound']);
    expect(await failure(as('admin', { verb: 'get', name: 'none' }))).toEqual([404, 'NotFound']);
    held.get(name('held-seat'))?.();
    expect(await first).toEqual([404, 'NotFound']);
  });

  it('is not carried out once its client is gone', async () => {
    const gone = new AbortController();
    const here = new Promise<void>((resolve) => {
      arrived = (which) => which === name('held-gone') && resolve();
    });
    await as('alice', { verb: 'create', object: map(name('held-gone'), { v: 'old' }) });
    const object = map(name('held-gone'), { v: 'new' });
    const update = as('alice', { verb: 'update', name: name('held-gone'), object }, gone.signal).catch(() => 'gone');
    await here;
    gone.abort();
    if (way === 'over HTTPS') expect(await update).toBe('gone');
    held.get(name('held-gone'))?.();
    await update;
    const data = async () => server.cluster.get<ConfigMap & KubeObject>('', 'configmaps', 'ways', name('held-gone'))?.data;
    expect(await data()).toEqual({ v: 'old' });
  });
});
