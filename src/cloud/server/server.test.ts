import { appendFile, type FileHandle, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { type Clock, silentLogger } from '#utils';
import { CloudApiError, type CloudClient, createCloudClient, listAll } from '../client/index.ts';
import { memoryLoadBalancers, memoryMachines } from '../memory/index.ts';
import { type Driver, type Faults, noFaults, type Observation, type World } from '../model/index.ts';
import { type CloudOptions, type RunningCloud, startCloud } from './index.ts';

const clock = systemClock();
const deps = { clock, rng: systemRng(), logger: silentLogger };
const ca = createCertificateAuthority({ commonName: 'test' });
const serving = issueCertificate({ ca, commonName: 'cloud', ips: ['127.0.0.1'], usages: ['server auth'], days: 1 });
const tokens = { customer: 'customer-token', other: 'another-token', service: 'service-token' };

let root = '';
let undo: (() => Promise<void> | void)[] = [];
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'cloud-server-'));
});
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newDir = (): string => join(root, String(++count));
async function start(dataDir: string, more: Partial<CloudOptions> = {}): Promise<RunningCloud> {
  const cloud = await startCloud(
    {
      dataDir,
      tls: { cert: serving.cert, key: serving.key },
      accounts: [
        { id: 'customer', token: tokens.customer, role: 'customer' },
        { id: 'other', token: tokens.other, role: 'customer' },
        { id: 'service', token: tokens.service, role: 'service' },
      ],
      region: 'local-1',
      zones: ['local-1a', 'local-1b'],
      publicCidr: '198.18.0.0/24',
      mark: 'abcdef',
      drivers: { machines: memoryMachines({ clock }), 'load-balancers': memoryLoadBalancers() },
      ...more,
    },
    deps,
  );
  undo.push(() => cloud.close());
  return cloud;
}
function clientOf(cloud: RunningCloud, token = tokens.customer): CloudClient {
  const client = createCloudClient({ url: `https://127.0.0.1:${cloud.port}`, token, ca: ca.cert });
  undo.push(() => client.close());
  return client;
}
async function network(client: CloudClient) {
  const vpc = await client.createVpc({ cidr: '10.77.0.0/16' });
  const subnet = await client.createSubnet({ vpcId: vpc.id, zone: 'local-1a', cidr: '10.77.0.0/20' });
  return { vpc, subnet };
}
async function until(what: string, done: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = clock.monotonic() + 5_000;
  while (!(await done())) {
    if (clock.monotonic() > deadline) throw new Error(`not within 5 s: ${what}`);
    await clock.sleep(5);
  }
}
const faults = (some: Partial<Faults>): Faults => ({ ...noFaults, ...some });
const failure = (call: Promise<unknown>): Promise<CloudApiError> =>
  call.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: unknown) => (error instanceof CloudApiError ? error : Promise.reject(error)),
  );

describe('a full disk', () => {
  it('refuses changes, remembers none of them, and goes on when it has room, with what was seen meanwhile', async () => {
    const dir = newDir();
    const seen: (() => void)[] = [];
    const held: Clock = { ...clock, setTimer: (_ms, callback) => (seen.push(callback), { cancel() {} }) };
    const cloud = await start(dir, { drivers: { machines: memoryMachines({ clock: held, delayMs: 1 }) } });
    const client = clientOf(cloud);
    const { vpc, subnet } = await network(client);
    const { id } = await client.runInstance({ name: 'before', subnetId: subnet.id });
    await until('seen', () => seen.length === 1);
    const probe = await open(join(root, 'probe'), 'a');
    await probe.close();
    const disk = vi.spyOn(Object.getPrototypeOf(probe) as FileHandle, 'appendFile').mockImplementation(async () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    });
    undo.push(() => disk.mockRestore());
    const asked = { name: 'after', subnetId: subnet.id, clientToken: 'once' };
    const refused = await Promise.all([failure(client.runInstance(asked)), failure(client.deleteVpc({ vpcId: vpc.id }))]);
    expect(refused.map(({ status }) => status)).toEqual([500, 409]);
    seen[0]?.();
    expect((await client.listInstances()).items.map(({ name, state }) => [name, state])).toEqual([['before', 'pending']]);
    disk.mockRestore();
    await until('written again', () =>
      client.runInstance(asked).then(
        () => true,
        () => false,
      ),
    );
    await until('running', async () => (await client.getInstance({ instanceId: id })).state === 'running');
    await cloud.close();
    const again = clientOf(await start(dir));
    expect((await again.listInstances()).items.map(({ name }) => name)).toEqual(['before', 'after']);
  });

  it('keeps the newest of what was seen of each part of the world, however often that was', async () => {
    let see: (observation: Observation) => void = () => {};
    const observed: string[] = [];
    const cloud = await start(newDir(), {
      drivers: {
        machines: ({ observe }) => {
          see = observe;
          return { name: 'machines', realise: () => Promise.resolve(), close: () => Promise.resolve() };
        },
      },
    });
    const client = clientOf(cloud);
    const { subnet } = await network(client);
    const { id: instanceId } = await client.runInstance({ name: 'a', subnetId: subnet.id });
    const probe = await open(join(root, 'probe'), 'a');
    await probe.close();
    const disk = vi
      .spyOn(Object.getPrototypeOf(probe) as FileHandle, 'appendFile')
      .mockRejectedValue(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
    undo.push(() => disk.mockRestore());
    const info = vi.spyOn(silentLogger, 'info').mockImplementation((message, fields) => {
      if (message === 'observed') observed.push(String(fields?.['reason']));
    });
    undo.push(() => info.mockRestore());
    for (let at = 0; at < 50; at++) {
      see({ kind: 'instance-state', instanceId, state: at % 2 === 0 ? 'running' : 'stopped', reason: `seen ${at}` });
      await clock.sleep(1);
    }
    disk.mockRestore();
    observed.length = 0;
    await until('stopped', async () => (await client.getInstance({ instanceId })).state === 'stopped');
    expect(new Set(observed)).toEqual(new Set(['seen 49']));
  });
});

describe('the API over HTTPS', () => {
  it('makes, lists, changes and removes', async () => {
    const client = clientOf(await start(newDir()));
    const { subnet } = await network(client);
    const made = await client.runInstance({ name: 'a', subnetId: subnet.id, tags: { role: 'node' } });
    expect(made).toMatchObject({ state: 'pending', privateAddress: '10.77.0.4', type: 'local.small' });
    await until('running', async () => (await client.getInstance({ instanceId: made.id })).state === 'running');
    for (let index = 0; index < 4; index++) await client.runInstance({ name: `n${index}`, subnetId: subnet.id });
    const page = await client.listInstances({ limit: 3 });
    expect([page.items.length, typeof page.nextToken]).toEqual([3, 'string']);
    expect(await listAll((one) => client.listInstances({ ...one, limit: 2 }))).toHaveLength(5);
    expect((await client.listInstances({ tags: { role: 'node' } })).items.map(({ name }) => name)).toEqual(['a']);
    await client.terminateInstance({ instanceId: made.id });
    await until('terminated', async () => (await client.getInstance({ instanceId: made.id })).state === 'terminated');
    expect(await failure(client.deleteSubnet({ subnetId: subnet.id }))).toMatchObject({
      status: 409,
      code: 'DependencyViolation',
    });
  });
  it('answers errors as errors', async () => {
    const cloud = await start(newDir());
    const client = clientOf(cloud);
    expect(await failure(clientOf(cloud, 'wrong-token').listVpcs())).toMatchObject({ status: 401, code: 'Unauthorized' });
    expect(await failure(client.createVpc({ cidr: 'x' }))).toMatchObject({
      status: 400,
      code: 'InvalidParameterValue',
      field: 'cidr',
    });
    expect(await failure(client.getVpc({ vpcId: 'vpc-0' }))).toMatchObject({
      status: 404,
      code: 'VpcNotFound',
      requestId: expect.stringMatching(/^req-/),
    });
    expect(await failure(client.createDnsZone({ name: 'a.test', tags: { x: 'y'.repeat(2_000_000) } }))).toMatchObject({
      status: 413,
      code: 'RequestTooLarge',
    });
    await cloud.close();
    expect(await failure(client.listVpcs())).toMatchObject({ status: 0, code: 'Unreachable' });
  });
  it('tells who did what', async () => {
    const cloud = await start(newDir());
    const client = clientOf(cloud);
    const { vpc } = await network(client);
    await failure(client.getVpc({ vpcId: 'vpc-0' }));
    await failure(clientOf(cloud, tokens.other).getVpc({ vpcId: vpc.id }));
    const { items } = await client.listEvents();
    expect(items.map(({ operation, status, resourceId }) => `${operation} ${status} ${resourceId}`)).toEqual([
      'getVpc 404 vpc-0',
      expect.stringMatching(/^createSubnet 201 subnet-/),
      `createVpc 201 ${vpc.id}`,
    ]);
    expect((await clientOf(cloud, tokens.service).listEvents({ operation: 'getVpc' })).items).toHaveLength(2);
  });
  it('serves its document and its health without a token', async () => {
    const cloud = await start(newDir(), { tls: undefined });
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${cloud.port}${path}`);
      return [response.status, await response.text()] as const;
    };
    expect(await get('/healthz')).toEqual([200, 'ok']);
    expect(JSON.parse((await get('/openapi.json'))[1])).toMatchObject({ openapi: '3.1.0' });
    expect((await get('/v1/vpcs'))[0]).toBe(401);
  });
  it('does once what is asked for twice with one token', async () => {
    const dir = newDir();
    const cloud = await start(dir);
    const client = clientOf(cloud);
    const [first, second] = await Promise.all([
      client.createVpc({ cidr: '10.0.0.0/16', clientToken: 't' }),
      client.createVpc({ cidr: '10.0.0.0/16', clientToken: 't' }),
    ]);
    expect(second).toEqual(first);
    await cloud.close();
    const again = clientOf(await start(dir));
    expect(await again.createVpc({ cidr: '10.0.0.0/16', clientToken: 't' })).toEqual(first);
    expect(await failure(again.createVpc({ cidr: '10.1.0.0/16', clientToken: 't' }))).toMatchObject({
      code: 'IdempotentParameterMismatch',
    });
    expect((await again.listVpcs()).items).toHaveLength(1);
  });
});

describe('the world', () => {
  it('is there after a restart, also one in the middle of a write', async () => {
    const dir = newDir();
    const cloud = await start(dir);
    const { vpc, subnet } = await network(clientOf(cloud));
    await cloud.close();
    await appendFile(join(dir, 'world', 'journal.0'), '00000000 {"put":');
    const again = clientOf(await start(dir));
    expect((await again.listVpcs()).items).toEqual([vpc]);
    expect((await again.listSubnets()).items).toEqual([subnet]);
  });
  it('has one cloud at a time', async () => {
    const dir = newDir();
    const cloud = await start(dir);
    await expect(start(dir)).rejects.toThrow(`another cloud is running on ${dir}`);
    await cloud.close();
    await start(dir);
  });
  it('does not hear of what drivers take down at the end', async () => {
    const dir = newDir();
    const drivers: CloudOptions['drivers'] = {
      machines: (context) => {
        const driver = memoryMachines({ clock })(context);
        const takeDown = async () => {
          for (const instanceId of ids)
            context.observe({ kind: 'instance-state', instanceId, state: 'stopped', reason: 'the end' });
        };
        return { ...driver, close: takeDown };
      },
    };
    const ids: string[] = [];
    const cloud = await start(dir, { drivers });
    const client = clientOf(cloud);
    const { subnet } = await network(client);
    ids.push((await client.runInstance({ name: 'a', subnetId: subnet.id })).id);
    await until('running', () => cloud.world.instances.get(ids[0] ?? '')?.state === 'running');
    await cloud.close();
    expect((await start(dir)).world.instances.get(ids[0] ?? '')?.state).toBe('running');
  });
  it('is not touched by a cloud that cannot serve', async () => {
    const { port } = await start(newDir());
    let touched = false;
    const touch = () => {
      touched = true;
      return memoryMachines({ clock })({ mark: '', publicCidr: '', dir: '', observe: () => {} });
    };
    const dir = newDir();
    await expect(start(dir, { listen: { port }, drivers: { touch } })).rejects.toThrow('EADDRINUSE');
    expect(touched).toBe(false);
    await start(dir);
  });
  it('is refused when its middle is damaged', async () => {
    const dir = newDir();
    const cloud = await start(dir);
    await network(clientOf(cloud));
    await cloud.close();
    const path = join(dir, 'world', 'journal.0');
    await writeFile(path, (await readFile(path, 'utf8')).replace('10.77', '10.78'));
    await expect(start(dir)).rejects.toThrow('journal.0 is damaged: the record at byte 0 does not match its checksum');
  });
  it('is made real by drivers, one call at a time, again after a failure', async () => {
    const seen: World[] = [];
    let calls = 0;
    let running = 0;
    const driver: Driver = {
      name: 'test',
      async realise(world) {
        expect(++running).toBe(1);
        await clock.sleep(5);
        running -= 1;
        if (++calls === 2) throw new Error('once');
        seen.push(world);
      },
      async close() {},
    };
    const client = clientOf(await start(newDir(), { drivers: { test: () => driver } }));
    await Promise.all(Array.from({ length: 10 }, (_, index) => client.createDnsZone({ name: `z${index}.test` })));
    await until('the driver has the newest world', () => seen.at(-1)?.dnsZones.size === 10);
    expect(calls).toBeLessThan(10);
  });
});

describe('failures on request', () => {
  it('refuse as many calls as they say, the same for the same seed', async () => {
    const client = clientOf(await start(newDir()));
    const outcomes = async () => {
      await client.putFaults(faults({ errorRate: 0.3, throttleRate: 0.3, retryAfterSeconds: 7, seed: 5 }));
      const list: string[] = [];
      for (let round = 0; round < 30; round++)
        list.push(
          await client.listVpcs().then(
            () => 'ok',
            (error: CloudApiError) => `${error.code} ${error.retryAfterMs}`,
          ),
        );
      return list;
    };
    const first = await outcomes();
    expect(new Set(first)).toEqual(new Set(['ok', 'InternalError undefined', 'RequestThrottled 7000']));
    expect(await outcomes()).toEqual(first);
    expect(await failure(client.putFaults(faults({ operations: ['listVpc'] })))).toMatchObject({ field: 'operations' });
    await client.putFaults(faults({ errorRate: 1, failuresMax: 2, operations: ['listVpcs'] }));
    await client.listSubnets();
    await failure(client.listVpcs());
    await failure(client.listVpcs());
    await client.listVpcs();
    await client.deleteFaults();
    expect(await client.getFaults()).toEqual(noFaults);
  });
  it('stop changes half way', async () => {
    const cloud = await start(newDir());
    const client = clientOf(cloud);
    const { subnet } = await network(client);
    await client.putFaults(faults({ partialFailureRate: 1 }));
    const input = { name: 'web', subnetIds: [subnet.id], listeners: [{ protocol: 'tcp' as const, port: 80, targetPort: 81 }] };
    expect(await failure(client.createLoadBalancer(input))).toMatchObject({ status: 500 });
    const [half] = (await client.listLoadBalancers()).items;
    expect(half).toMatchObject({ name: 'web', listeners: [] });
    await failure(client.deleteLoadBalancer({ loadBalancerId: half?.id ?? '' }));
    expect((await client.listLoadBalancers()).items).toHaveLength(1);
    await client.deleteFaults();
    await client.deleteLoadBalancer({ loadBalancerId: half?.id ?? '' });
    expect(cloud.world.loadBalancers.size).toBe(0);
  });
  it('show reads an older world, and cut connections', async () => {
    const cloud = await start(newDir());
    const client = clientOf(cloud);
    await client.putFaults(faults({ eventualConsistencyMs: 200 }));
    const vpc = await client.createVpc({ cidr: '10.0.0.0/16' });
    expect((await client.listVpcs()).items).toEqual([]);
    expect(await failure(client.getVpc({ vpcId: vpc.id }))).toMatchObject({ status: 404 });
    await until('seen', async () => (await client.listVpcs()).items.length === 1);
    await client.putFaults(faults({ outage: true }));
    expect(await failure(client.listVpcs())).toMatchObject({ status: 0 });
    await client.deleteFaults();
    await client.listVpcs();
  });
});
