// Registration over real sockets: a plugin in this process plays the registrar and the driver.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, type UntypedHandleCall } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import type { CSINode } from '#api/storage/v1';
import { createClient } from '#client';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { FakeApi } from '../test-support/fake-api.ts';
import { CsiDrivers } from './index.ts';
import { pluginServices } from './definitions.ts';

type Handlers = Record<string, (request: Record<string, unknown>) => object>;

let rootDir: string;
let servers: Server[];
let api: FakeApi;
let drivers: CsiDrivers;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'sagong-csi-'));
  servers = [];
  api = new FakeApi();
  api.put('nodes', { metadata: { name: 'node-1', uid: 'n-1', labels: { zone: 'a' } } });
  drivers = new CsiDrivers({
    client: createClient(api),
    clock: systemClock(),
    logger: silentLogger,
    nodeName: 'node-1',
    rootDir,
  });
});
afterEach(async () => {
  drivers.close();
  for (const server of servers) server.forceShutdown();
  await rm(rootDir, { recursive: true, force: true });
});

const unary =
  (handler: Handlers[string]) =>
  (call: { request: Record<string, unknown> }, answer: (error: unknown, value?: object) => void) => {
    try {
      answer(null, handler(call.request));
    } catch (error) {
      answer(error);
    }
  };

async function serve(path: string, service: 'Node' | 'Registration', handlers: Handlers): Promise<Server> {
  const server = new Server();
  const implementation = Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [name, unary(handler)]),
  ) as unknown as Record<string, UntypedHandleCall>;
  server.addService(pluginServices()[service].service, implementation);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  servers.push(server);
  return server;
}

/** A driver with its registrar; resolves with what the registrar is told. */
async function plugin(
  name: string,
  { socket = name, ...info }: { socket?: string } & Record<string, unknown> = {},
  node: Handlers = {},
): Promise<{ told: Promise<object>; registrar: Server }> {
  const endpoint = join(rootDir, `${socket}.sock`);
  await serve(endpoint, 'Node', {
    NodeGetInfo: () => ({ nodeId: `id-${name}`, maxVolumesPerNode: 3, accessibleTopology: { segments: { rack: 'r1' } } }),
    NodeGetCapabilities: () => ({ capabilities: [{ rpc: { type: 'STAGE_UNSTAGE_VOLUME' } }] }),
    ...node,
  });
  let registrar: Server | undefined;
  const told = new Promise<object>((resolve, reject) => {
    serve(join(rootDir, 'plugins_registry', `${socket}-reg.sock`), 'Registration', {
      GetInfo: () => ({ type: 'CSIPlugin', name, endpoint, supportedVersions: ['1.0.0'], ...info }),
      NotifyRegistrationStatus: (status) => {
        resolve(status);
        return {};
      },
    }).then((server) => {
      registrar = server;
    }, reject);
  });
  await told;
  return { told, registrar: registrar as Server };
}

const csiNode = (): CSINode | undefined => api.objects.get('csinodes//node-1') as CSINode | undefined;
const node = (): Node => api.objects.get('nodes//node-1') as Node;

describe('the drivers of a node', () => {
  it('register with their sockets, and are known to the API', async () => {
    await drivers.start();
    expect(csiNode()).toMatchObject({ metadata: { ownerReferences: [{ kind: 'Node', uid: 'n-1' }] }, spec: { drivers: [] } });
    expect(await (await plugin('disk.example.com')).told).toEqual({ pluginRegistered: true, error: '' });
    expect(csiNode()?.spec?.drivers).toEqual([
      { name: 'disk.example.com', nodeID: 'id-disk.example.com', topologyKeys: ['rack'], allocatable: { count: 3 } },
    ]);
    expect(node().metadata.annotations).toEqual({
      'csi.volume.kubernetes.io/nodeid': '{"disk.example.com":"id-disk.example.com"}',
    });
    expect(node().metadata.labels).toEqual({ zone: 'a', rack: 'r1' });
    expect(await drivers.get('disk.example.com').capabilities()).toMatchObject({ stages: true, expands: false });
  });
  it('are told why they are refused', async () => {
    await drivers.start();
    expect(await (await plugin('old.example.com', { supportedVersions: ['0.3.0'] })).told).toMatchObject({
      pluginRegistered: false,
      error: expect.stringContaining('none of the versions 0.3.0 of CSI driver old.example.com is supported'),
    });
    expect(await (await plugin('gpu.example.com', { type: 'DRAPlugin' })).told).toMatchObject({
      error: expect.stringContaining('no handler registered for plugin type: DRAPlugin'),
    });
    const elsewhere = { NodeGetInfo: () => ({ nodeId: 'n', accessibleTopology: { segments: { zone: 'b' } } }) };
    expect(await (await plugin('zone.example.com', {}, elsewhere)).told).toMatchObject({
      error: expect.stringContaining('driver reported zone:b but existing label is zone:a'),
    });
    expect(() => drivers.get('zone.example.com')).toThrow(
      'driver name zone.example.com not found in the list of registered CSI drivers',
    );
    expect(csiNode()?.spec?.drivers).toEqual([]);
  });
  it('are forgotten when their sockets go, and say what went wrong', async () => {
    await drivers.start();
    const failing = {
      NodePublishVolume: () => {
        throw Object.assign(new Error('no such volume'), { code: 5, details: 'no such volume' });
      },
    };
    const { registrar } = await plugin('disk.example.com', {}, failing);
    const request = { volumeId: 'v', targetPath: '/t' } as never;
    await expect(drivers.get('disk.example.com').publish(request)).rejects.toThrow(
      'rpc error: code = NotFound desc = no such volume',
    );
    registrar.forceShutdown();
    await rm(join(rootDir, 'plugins_registry', 'disk.example.com-reg.sock'), { force: true });
    await expect.poll(() => csiNode()?.spec?.drivers, { timeout: 10_000 }).toEqual([]);
    expect(() => drivers.get('disk.example.com')).toThrow('not found');
  });
  it('that register twice are asked by their highest version, and the other one stands in when that goes', async () => {
    await drivers.start();
    const name = 'disk.example.com';
    const says = (nodeId: string): Handlers => ({ NodeGetInfo: () => ({ nodeId }) });
    const ids = (): unknown => csiNode()?.spec?.drivers?.map((driver) => `${driver.name} ${driver.nodeID}`);
    const leave = async ({ registrar }: { registrar: Server }, socket: string): Promise<void> => {
      registrar.forceShutdown();
      await rm(join(rootDir, 'plugins_registry', `${socket}-reg.sock`), { force: true });
    };
    await plugin(name, { socket: 'old', supportedVersions: ['0.3.0', '1.9.0'] }, says('old'));
    const taken = await plugin(name, { socket: 'new', supportedVersions: ['v1.10.0', '1.2.0', '2.0.0'] }, says('new'));
    expect(await taken.told).toEqual({ pluginRegistered: true, error: '' });
    for (const [socket, version] of [
      ['equal', '1.10'],
      ['lower', '1.9.7'],
    ] as const) {
      const refused = await plugin(name, { socket, supportedVersions: [version] }, says(socket));
      expect(await refused.told).toMatchObject({
        pluginRegistered: false,
        error: expect.stringContaining('is already registered with a higher supported version: "1.10.0"'),
      });
      await leave(refused, socket);
    }
    expect(ids()).toEqual(['disk.example.com new']);
    await leave(taken, 'new');
    await expect.poll(ids, { timeout: 10_000 }).toEqual(['disk.example.com old']);
    expect(await drivers.get(name).info()).toMatchObject({ nodeId: 'old' });
  });
  it('of an older socket that goes stay with the newer one', async () => {
    await drivers.start();
    const name = 'disk.example.com';
    const old = await plugin(name, { socket: 'old', supportedVersions: ['1.0.0'] });
    await plugin(name, { socket: 'new', supportedVersions: ['1.1.0'] }, { NodeGetInfo: () => ({ nodeId: 'new' }) });
    old.registrar.forceShutdown();
    await rm(join(rootDir, 'plugins_registry', 'old-reg.sock'), { force: true });
    // One look after the other: by the time that another driver is taken, the socket that went has been seen.
    await plugin('other.example.com');
    expect(csiNode()?.spec?.drivers?.map(({ nodeID }) => nodeID)).toEqual(['new', 'id-other.example.com']);
    expect(await drivers.get(name).info()).toMatchObject({ nodeId: 'new' });
  });
  it('whose registrar cannot be told are taken when it asks again', async () => {
    await drivers.start();
    const deaf = [true];
    const endpoint = join(rootDir, 'disk.sock');
    await serve(endpoint, 'Node', { NodeGetInfo: () => ({ nodeId: 'n' }) });
    const told = new Promise<object>((resolve) => {
      void serve(join(rootDir, 'plugins_registry', 'disk-reg.sock'), 'Registration', {
        GetInfo: () => ({ type: 'CSIPlugin', name: 'disk.example.com', endpoint, supportedVersions: ['1.0.0'] }),
        NotifyRegistrationStatus: (status) => {
          if (deaf.pop()) throw Object.assign(new Error('busy'), { code: 14, details: 'busy' });
          resolve(status);
          return {};
        },
      });
    });
    expect(await told).toEqual({ pluginRegistered: true, error: '' });
  });
});
