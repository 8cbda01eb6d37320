import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPki } from '../certificates/certificates.ts';
import { systemClock } from '#host';
import { controlPlaneFiles, type ControlPlaneConfig } from './config.ts';
import { keepEncryption, prepareControlPlane } from './disk.ts';
import { finishRestore } from './etcd-snapshot.ts';
import { noteJoined } from './member.ts';

let base: string;
let outside: string;
let config: ControlPlaneConfig;
const clock = systemClock();

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'sagong-plane-'));
  outside = join(base, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'file'), 'kept');
  const disk = join(base, 'nodes/control-plane-1');
  const encryptionConfig = join(disk, 'control-plane/pki/encryption.json');
  const own = { name: 'control-plane-1', address: '10.77.0.20', directory: join(disk, 'control-plane'), encryptionConfig };
  const etcd = { etcdData: join(disk, 'root/var/lib/etcd'), etcdToken: 'one', members: [] };
  config = { ...own, ...etcd, program: [], cluster: 'one', podCidr: '10.244.0.0/16', cloud: false, args: {} };
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** All that this machine writes to the folder of a machine of the control plane. */
async function prepare(): Promise<void> {
  const pkiDir = join(base, 'pki');
  await prepareControlPlane(config, { dataDir: base, pkiDir, pki: await openPki(pkiDir), endpoints: [], clock });
  await keepEncryption(pkiDir, config);
  await noteJoined(config);
}

describe.skipIf(process.platform !== 'linux')('the folder of a control plane on the disk of a node', () => {
  it('is written as often as the cluster starts, with what was issued before', async () => {
    await prepare();
    const { apiserver, etcdJoined } = controlPlaneFiles(config.directory);
    const before = await readFile(apiserver.cert, 'utf8');
    await prepare();
    expect([await readFile(apiserver.cert, 'utf8'), await readFile(etcdJoined, 'utf8')]).toEqual([before, '']);
  });

  it('has files in the place of links that a pod has put there', async () => {
    await prepare();
    const names = ['agent.json', 'etcd-joined', 'admin.conf', 'pki/sa.key', 'pki/apiserver.crt', 'pki/encryption.json'];
    const places = [...names, 'pki/etcd/ca.crt'].map((name) => join(config.directory, name));
    for (const place of places) {
      await rm(place);
      await symlink(join(outside, 'file'), place);
    }
    await prepare();
    for (const place of places) expect((await lstat(place)).isFile(), place).toBe(true);
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('kept');
  });

  it.each(['', 'pki/etcd', 'logs'])('is not written where a folder has become a link: "%s"', async (path) => {
    await prepare();
    await rm(join(config.directory, path), { recursive: true });
    await symlink(outside, join(config.directory, path));
    await expect(prepare()).rejects.toThrow("is no folder of the node's own");
    expect(await readdir(outside)).toEqual(['file']);
  });

  it("renames and removes nothing at a pod's word where the way to etcd's data is a link", async () => {
    await prepare();
    await writeFile(join(config.directory, 'restoring'), '');
    for (const name of ['etcd', 'etcd-restored']) await mkdir(join(outside, name));
    await mkdir(join(base, 'nodes/control-plane-1/root/var'), { recursive: true });
    await symlink(outside, join(base, 'nodes/control-plane-1/root/var/lib'));
    await expect(finishRestore([config])).rejects.toThrow("is no folder of the node's own");
    expect((await readdir(outside)).sort()).toEqual(['etcd', 'etcd-restored', 'file']);
    expect(existsSync(join(config.directory, 'restoring'))).toBe(true);
  });
});
