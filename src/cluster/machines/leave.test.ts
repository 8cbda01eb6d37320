import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '#host';
import { controlPlaneConfigPath, controlPlaneDir } from '../state/paths.ts';
import { down } from '../down.ts';
import { saveSettings } from '../state/settings.ts';
import { leave } from './leave.ts';
import { machinePaths } from './machine.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'leave-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('says that there is no node', async () => {
  await expect(leave(dir, systemClock())).rejects.toThrow(`there is no node in ${dir}`);
});

it('undoes nothing where its member of etcd cannot be taken out', async () => {
  const [own, other] = [
    { name: 'near', address: '127.0.0.2' },
    { name: 'first', address: '127.0.0.3' },
  ];
  const controlPlane = { cluster: 'kubernetes', endpoint: '127.0.0.3:6443', encryptSecrets: false };
  const settings = {
    nodeName: own.name,
    nodeIp: own.address,
    server: 'https://127.0.0.2:6443',
    podCidr: '10.244.0.0/16',
    controlPlane,
  };
  await writeFile(machinePaths(dir).settings, JSON.stringify(settings));
  const directory = controlPlaneDir(dir, own.name);
  await mkdir(directory, { recursive: true });
  await writeFile(controlPlaneConfigPath(directory), JSON.stringify({ ...own, members: [other, own] }));
  // Nobody is asked without its certificates.
  await expect(leave(dir, systemClock())).rejects.toThrow(
    /^this machine is still a member of etcd: 127\.0\.0\.3: .*; nothing was undone, .* go on with --force$/,
  );
  expect((await readdir(dir)).sort()).toEqual(['control-planes', 'machine.json']);
});

it('removes nothing of a first machine whose member cannot be taken out while others stay', async () => {
  const directory = controlPlaneDir(dir, 'first');
  await mkdir(directory, { recursive: true });
  const own = { name: 'first', address: '127.0.0.3' };
  await writeFile(
    controlPlaneConfigPath(directory),
    JSON.stringify({ ...own, members: [own, { name: 'near', address: '127.0.0.2' }] }),
  );
  const machine = { advertiseAddress: own.address, node: false, controlPlane: own.name };
  await saveSettings({ name: 'c', dataDir: dir, port: 6443, nodes: [], runtime: 'containerd', machine } as never);
  const removal = { clock: systemClock(), env: { KUBECONFIG: join(dir, 'nobody') } };
  await expect(down(dir, removal)).rejects.toThrow(/^this machine is still a member of etcd: .* go on with --force$/);
  expect(await readdir(dir)).toContain('control-planes');
  expect(await down(dir, { ...removal, force: true })).toBe(true);
  expect(existsSync(directory)).toBe(false);
});
