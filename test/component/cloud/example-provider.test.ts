// The provider of examples/cloud-provider, found by the loader and put through the conformance suite.
import { mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { loadCloudProvider } from '#cloud-provider';
import { conformance } from '#cloud-provider/conformance';
import { systemClock } from '#host';
import { silentLogger } from '#utils';

const source = fileURLToPath(new URL('../../../examples/cloud-provider', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'paper-cloud-'));
afterAll(() => rmSync(folder, { recursive: true }));
const load = (provider: string, configFile: string) =>
  loadCloudProvider({ provider, configFile, builtIn: {} }, { clock: systemClock(), logger: silentLogger });

interface Machine {
  id: string;
  address: string;
  power: string;
}

async function change(inventory: string, edit: (machines: Record<string, Machine>) => void): Promise<void> {
  const machines = JSON.parse(await readFile(inventory, 'utf8')) as Record<string, Machine>;
  edit(machines);
  await writeFile(inventory, JSON.stringify(machines));
}

describe('examples/cloud-provider', () => {
  it('is found as an npm package from the folder of its configuration', async () => {
    const home = join(folder, 'installed');
    await mkdir(join(home, 'node_modules'), { recursive: true });
    await cp(source, join(home, 'node_modules', 'paper-cloud'), { recursive: true });
    await writeFile(join(home, 'cloud.yaml'), `region: desk\ninventory: node_modules/paper-cloud/machines.json\n`);
    const loaded = await load('paper-cloud', join(home, 'cloud.yaml'));
    expect(loaded?.name).toBe('paper');
    expect(await loaded?.cloud.instancesV2?.instanceMetadata({ metadata: { name: 'node-1' } })).toMatchObject({
      providerId: 'paper://m-1',
      zone: 'left',
      region: 'desk',
    });
  });
  it('says which field of its configuration is wrong', async () => {
    const file = join(folder, 'wrong.yaml');
    await writeFile(file, 'region: desk\naddressPool: nowhere\n');
    await expect(load(join(source, 'index.mjs'), file)).rejects.toThrow(
      'invalid configuration of cloud provider "paper": inventory: is required; addressPool: must match',
    );
  });
});

let worlds = 0;
const half = 'it makes a load balancer in one step';
const memory = 'its load balancers live in the memory of one process';
conformance(
  {
    instancesMany: 50,
    skips: {
      'load balancers: after a failure in the middle the next call completes it': half,
      'load balancers: what is left of one half made exists, and is deleted': half,
      'load balancers: of two clusters in one account neither touches what is the other’s': memory,
      'load balancers: two managers at once make one': memory,
      'load balancers: another provider finds what the first one made': memory,
      routes: 'it has no routes',
    },
    async open() {
      const home = join(folder, `world-${++worlds}`);
      await cp(source, home, { recursive: true });
      const inventory = join(home, 'machines.json');
      await writeFile(inventory, '{}');
      const loaded = await load('./index.mjs', join(home, 'cloud-config.yaml'));
      if (!loaded) throw new Error('not loaded');
      let count = 0;
      return {
        cloud: loaded.cloud,
        cluster: 'kubernetes',
        addInstance: (name) =>
          change(inventory, (machines) => {
            count += 1;
            machines[name] = { id: `m-${count}`, address: `10.0.0.${count}`, power: 'on' };
          }),
        stopInstance: (name) =>
          change(inventory, (machines) => {
            const machine = machines[name];
            if (machine) machine.power = 'off';
          }),
        terminateInstance: (name) =>
          change(inventory, (machines) => {
            delete machines[name];
          }),
      };
    },
  },
  { describe, it },
);
