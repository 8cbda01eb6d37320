// The API's client: what refusals mean, which calls are made again, what is counted.
import { retryAfterOf } from 'sagong/cloud-provider';
import { callErrorOf, HttpAnswerError } from 'sagong/cloud-provider/kit';
import { hastyClock, manualClock, rejection, seededRng } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { project, region, startTestServer, type TestServer } from '../../test-server/index.ts';
import { createComputeApi, type TokenSource } from './compute.ts';
import { failureOf, isForbidden, isInUse, OperationError } from './errors.ts';
import { requestLabel } from './metrics.ts';
import type { Address, Route } from './types.ts';

const clock = hastyClock();
let server: TestServer;
let refusals = 0;
const tokens: TokenSource = {
  headers: () => Promise.resolve({ authorization: `Bearer ${refusals > 0 ? server.token : 'stale'}` }),
  refused: () => void (refusals += 1),
};
beforeEach(async () => {
  refusals = 1;
  server = await startTestServer({ clock, rng: seededRng(1) });
});
afterEach(() => server.close());
const noted: unknown[] = [];
const family = (name: string) => ({
  inc: (_by?: number, ...labels: string[]) => void noted.push([name, ...labels]),
  observe: (_value: number, ...labels: string[]) => void noted.push([name, ...labels]),
});
const metrics = {
  counter: ({ name }: { name: string }) => family(name),
  histogram: ({ name }: { name: string }) => family(name),
};
const addresses = (signal?: AbortSignal) =>
  createComputeApi({ endpoint: server.endpoint, tokens, clock, rng: seededRng(2), metrics }).collection<Address>(
    'addresses',
    project,
    { region },
    signal,
  );
describe('the client', () => {
  it('says which call failed and in which words', async () => {
    const error = await rejection(addresses().get('nobody'));
    expect(error.message).toMatch(/^addresses.get: GET http:\S+ 404 The resource '\S+nobody' was not found$/);
    expect(callErrorOf(error)).toMatchObject({ kind: 'absent', status: 404, vendorCode: 'notFound' });
  });
  it('comes again with another token when the first is refused', async () => {
    refusals = 0;
    expect(callErrorOf(await rejection(addresses().get('nobody')))?.status).toBe(401);
    expect(callErrorOf(await rejection(addresses().get('nobody')))?.status).toBe(404);
  });
  it('waits for operations on a held answer, not by asking again and again', async () => {
    server.faults.rates = { ...server.faults.rates, operationMs: 300_000 };
    await addresses().insert({ name: 'a' });
    expect(server.requests.filter(({ url }) => url.pathname.endsWith('/wait'))).toHaveLength(3);
  });
  it('gives up an operation at its deadline, to be called again', async () => {
    server.faults.rates = { ...server.faults.rates, operationMs: 10_000_000 };
    const error = await rejection(addresses().insert({ name: 'a' }));
    expect(error.message).toMatch(/^operation operation-\S+ of addresses.insert is not done after 600 s \(RUNNING\)$/);
    expect(retryAfterOf(error)).toBe(10_000);
  });
  it('leaves long throttling to the controller', async () => {
    server.faults.add({ status: 429, headers: { 'retry-after': '120' } });
    expect(retryAfterOf(await rejection(addresses().get('x')))).toBe(120_000);
  });
  it('ends with its caller', async () => {
    const error = await rejection(addresses(AbortSignal.abort(new Error('the lease is lost'))).get('x'));
    expect(error.message).toContain('the lease is lost');
  });
  it('counts calls by upstream’s names, a change with the operation that it waits for', async () => {
    noted.length = 0;
    await addresses().insert({ name: 'a' });
    await rejection(addresses().get('b'));
    const labels = [region, '<n/a>', 'v1'];
    expect(noted).toEqual([
      ['cloudprovider_gce_api_request_duration_seconds', 'address_reserve', ...labels],
      ['cloudprovider_gce_api_request_duration_seconds', 'address_get', ...labels],
      ['cloudprovider_gce_api_request_errors', 'address_get', ...labels],
    ]);
  });
  it('keeps within the project’s rate of requests', async () => {
    const slow = manualClock();
    const paced = createComputeApi({ endpoint: server.endpoint, tokens, clock: slow, rng: seededRng(2) });
    const routes = paced.collection<Route>('routes', project, 'global');
    const answers = Promise.all(Array.from({ length: 60 }, () => routes.list()));
    await expect.poll(() => server.count()).toBe(50);
    let done = false;
    void answers.then(() => (done = true));
    await expect.poll(async () => (await slow.advance(100), done)).toBe(true);
    expect(slow.monotonic()).toBeGreaterThanOrEqual(500);
  });
});

describe('a refusal', () => {
  const answer = (status: number, reason: string, message = '') =>
    new HttpAnswerError(
      { method: 'GET', url: 'x' },
      { status, headers: new Headers(), text: JSON.stringify({ error: { message, errors: [{ reason }] } }) },
    );
  it.each<[number, string, string]>([
    [403, 'rateLimitExceeded', 'throttled'],
    [403, 'quotaExceeded', 'refused'],
    [403, 'forbidden', 'refused'],
    [400, 'resourceNotReady', 'conflict'],
    [400, 'resourceInUseByAnotherResource', 'refused'],
    [409, 'alreadyExists', 'conflict'],
    [412, 'conditionNotMet', 'conflict'],
    [429, 'whatever', 'throttled'],
    [503, 'backendError', 'transient'],
    [404, 'notFound', 'absent'],
  ])('%i %s is %s', (status, reason, kind) => {
    expect(failureOf(answer(status, reason), 0).kind).toBe(kind);
  });
  it.each<[string, number, string]>([
    ['RESOURCE_NOT_FOUND', 0, 'absent'],
    ['RESOURCE_OPERATION_RATE_EXCEEDED', 0, 'throttled'],
    ['INTERNAL_ERROR', 0, 'transient'],
    ['QUOTA_EXCEEDED', 403, 'refused'],
    ['SOMETHING_NEW', 503, 'transient'],
    ['SOMETHING_NEW', 0, 'refused'],
  ])('of an operation, %s with %i, is %s', (code, httpErrorStatusCode, kind) => {
    expect(failureOf(new OperationError({ error: { errors: [{ code }] }, httpErrorStatusCode }), 0).kind).toBe(kind);
  });
  it('tells what is in use, and what is forbidden', async () => {
    server.faults.add({ status: 400, code: 'resourceInUseByAnotherResource', message: 'x' });
    expect(isInUse(await rejection(addresses().get('x')))).toBe(true);
    server.faults.add({ status: 400, code: 'badRequest', message: "The resource 'a' is already being used by 'b'" });
    expect(isInUse(await rejection(addresses().get('x')))).toBe(true);
    server.faults.add({ status: 403 });
    const error = await rejection(addresses().get('x'));
    expect([isInUse(error), isForbidden(error)]).toEqual([false, true]);
  });
});

it.each([
  ['firewalls', 'patch', 'firewall_Patch'],
  ['httpHealthChecks', 'insert', 'healthcheck_create_legacy'],
  ['targetPools', 'addInstance', 'targetpool_add_instances'],
  ['instanceGroups', 'listInstances', 'instancegroup_list_instances'],
  ['backendServices', 'patch', 'backendservice_update'],
  ['instances', 'list', 'instances_list'],
])('%s.%s is counted as %s', (collection, method, label) => {
  expect(requestLabel(collection, method)).toBe(label);
});
