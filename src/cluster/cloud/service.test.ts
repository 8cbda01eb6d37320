// The cloud of simulated nodes to its clients in the same process: while it runs, and while it has failed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryMachines } from '#cloud/memory';
import { Supervisor } from '#component-base';
import { bound, handStray } from '#component-base/failures';
import { execCommand, systemClock } from '#host';
import { seededRng, silentLogger } from '#utils';
import type { ClusterSettings } from '../state/settings.ts';
import { type ClusterCloud, startSimulatedCloud } from './service.ts';
import { createSimulatedInstances } from './simulated-instances.ts';

let dataDir: string;
let cloud: ClusterCloud;
let supervisor: Supervisor;
/** An error in the cloud that nobody catches. */
let fail: () => void;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cloud-'));
  const deps = { clock: systemClock(), rng: seededRng(1), logger: silentLogger, exec: execCommand };
  supervisor = new Supervisor(deps);
  const machines = memoryMachines(deps);
  const driver: typeof machines = (context) => {
    fail = bound(() => void handStray(new Error('odd')));
    return machines(context);
  };
  const instances = { ...createSimulatedInstances(), driver };
  cloud = await startSimulatedCloud({ dataDir } as ClusterSettings, instances, { ...deps, supervisor });
});
afterEach(async () => {
  await cloud.stop();
  await rm(dataDir, { recursive: true });
});

describe('a cloud in the process of its cluster', () => {
  it('knows its clients by their accounts', async () => {
    const { id } = await cloud.client.createVpc({ cidr: '10.0.0.0/16' });
    expect(await cloud.direct?.().getVpc({ vpcId: id })).toMatchObject({ ownerId: 'customer' });
    // The service sees what is the customer's, and takes none of it for its own.
    expect((await cloud.service.getVpc({ vpcId: id })).id).toBe(id);
    expect((await cloud.service.listVpcs()).items).toEqual([]);
  });
  it('is not there for them while it has failed, and is again once it was started anew', async () => {
    const { id } = await cloud.client.createVpc({ cidr: '10.0.0.0/16' });
    fail();
    await vi.waitFor(() => expect(cloud.client.getVpc({ vpcId: id })).rejects.toMatchObject({ status: 0, code: 'Unreachable' }));
    expect(supervisor.failures).toMatchObject([{ component: 'cloud', message: 'odd' }]);
    await vi.waitFor(async () => expect((await cloud.client.getVpc({ vpcId: id })).id).toBe(id), { timeout: 10_000 });
  });
});
