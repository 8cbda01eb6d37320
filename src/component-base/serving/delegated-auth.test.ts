import { expect, it } from 'vitest';
import { StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { createCertificateAuthority, issueCertificate, parseCertificates } from '#pki';
import type { Clock } from '#utils';
import type { CallerRequest } from './caller.ts';
import { DelegatedAuth, defaultDelegatedAuth, type DelegatedAuthOptions } from './delegated-auth.ts';
import { tokenLengthMax } from './limits.ts';
import { lookUpAuthorities } from './lookup.ts';

let nowMs = 0;
const clock: Clock = {
  now: () => Date.UTC(2026, 0, 1) + nowMs,
  monotonic: () => nowMs,
  setTimer: () => ({ cancel() {} }),
  sleep: () => Promise.resolve(),
};

/** Knows the token `good` of a user who may read /metrics; counts what it is asked. */
function apiserver(options: Partial<DelegatedAuthOptions> = {}) {
  const asked: string[] = [];
  const create = (review: KubeObject): Promise<unknown> => {
    const { kind, spec } = review as KubeObject & { spec: Record<string, unknown> };
    asked.push(String(kind));
    if (spec['token'] === 'broken') return Promise.reject(new Error('no answer'));
    if (kind === 'TokenReview')
      return Promise.resolve({
        status: spec['token'] === 'good' ? { authenticated: true, user: { username: 'prometheus' } } : {},
      });
    const { path } = spec['nonResourceAttributes'] as { path: string };
    return Promise.resolve({ status: { allowed: spec['user'] === 'prometheus' && path === '/metrics' } });
  };
  const client = { resource: () => ({ create, get: () => Promise.reject(new Error('forbidden')) }) };
  const auth = new DelegatedAuth(
    { ...defaultDelegatedAuth, ...options },
    { authentication: client, authorization: client, clock },
  );
  const check = async (path: string, more: Partial<CallerRequest> = {}): Promise<number> => {
    try {
      await auth.check({ method: 'GET', path, headers: {}, ...more });
      return 200;
    } catch (error) {
      if (error instanceof StatusError) return error.status.code ?? 0;
      throw error;
    }
  };
  return { asked, auth, check, client };
}
const withToken = (authorization: string | undefined) => ({ headers: authorization === undefined ? {} : { authorization } });

it.each<[string, string | undefined, number]>([
  ['/healthz', undefined, 200],
  ['/healthz/ping', undefined, 403],
  ['/healthzz', undefined, 403],
  ['/metrics', undefined, 403],
  ['/healthz', 'Bearer wrong', 401],
  ['/metrics', 'Bearer wrong', 401],
  ['/metrics', 'Bearer broken', 401],
  ['/metrics', 'Basic abc', 403],
  ['/metrics', 'Bearer good', 200],
  ['/configz', 'Bearer good', 403],
])('%s with %s: %i', async (path, authorization, status) => {
  expect(await apiserver().check(path, withToken(authorization))).toBe(status);
});
it('asks nobody about a token that is longer than any', async () => {
  const { asked, check } = apiserver();
  expect(await check('/metrics', withToken(`Bearer ${'x'.repeat(tokenLengthMax + 1)}`))).toBe(401);
  expect(asked).toEqual([]);
});
it('opens the paths it is told to', async () => {
  const { check } = apiserver({ alwaysAllowPaths: ['/healthz*', '/metrics'] });
  expect(await Promise.all(['/healthz/ping', '/metrics', '/metrics/slis'].map((path) => check(path)))).toEqual([200, 200, 403]);
});
it('keeps answers for ten seconds, and asks once for callers at once', async () => {
  const { asked, check } = apiserver();
  await Promise.all([check('/metrics', withToken('Bearer good')), check('/metrics', withToken('Bearer good'))]);
  expect(asked).toEqual(['TokenReview', 'SubjectAccessReview']);
  nowMs += 10_001;
  await check('/metrics', withToken('Bearer good'));
  expect(asked).toHaveLength(4);
});

const authority = (commonName: string) => createCertificateAuthority({ commonName, clock });
function certificate(ca: ReturnType<typeof authority>, commonName: string, organizations: string[] = []) {
  const { cert } = issueCertificate({ ca, commonName, organizations, usages: ['client auth'], clock });
  const [leaf] = parseCertificates(cert);
  return { certificate: leaf };
}

it('lets system:masters in by certificate without asking; others are asked about, strangers refused', async () => {
  const ca = authority('clients');
  const { asked, check } = apiserver({ clientCa: ca.cert });
  expect(await check('/configz', certificate(ca, 'admin', ['system:masters']))).toBe(200);
  expect(asked).toEqual([]);
  expect(await check('/metrics', certificate(ca, 'prometheus'))).toBe(200);
  expect(await check('/healthz', certificate(authority('others'), 'admin', ['system:masters']))).toBe(401);
});
it('believes a front proxy, and nobody else', async () => {
  const [clients, proxies] = [authority('clients'), authority('proxies')];
  const requestHeader = {
    ca: proxies.cert,
    allowedNames: ['front-proxy-client'],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: [],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  };
  const { check } = apiserver({ clientCa: clients.cert, requestHeader });
  const headers = { 'x-remote-user': 'prometheus', 'x-remote-group': ['system:masters'] };
  expect(await check('/configz', { headers, ...certificate(proxies, 'front-proxy-client') })).toBe(200);
  expect(await check('/configz', { headers, ...certificate(proxies, 'somebody') })).toBe(401);
  expect(await check('/configz', { headers, ...certificate(clients, 'nobody') })).toBe(403);
  expect(await check('/configz', { headers })).toBe(403);
});
it('finds the authorities in the cluster, and says what to do when it may not', async () => {
  const data = { 'client-ca-file': 'PEM', 'requestheader-client-ca-file': 'PROXY', 'requestheader-allowed-names': '["a"]' };
  const get = (name: string) => Promise.resolve({ metadata: { name }, data });
  const client = { resource: () => ({ create: () => Promise.reject(new Error()), get }) };
  const found = await lookUpAuthorities(client, {});
  expect(found).toMatchObject({ clientCa: 'PEM', requestHeader: { ca: 'PROXY', allowedNames: ['a'], usernameHeaders: [] } });
  expect((await lookUpAuthorities(client, { clientCa: 'OWN' })).clientCa).toBe('OWN');
  await expect(lookUpAuthorities(apiserver().client, {})).rejects.toThrow('--role=extension-apiserver-authentication-reader');
});
