// Volumes on a disk: made open for every user, made and removed as often as asked.
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directories } from './directories.ts';
import { placeOf, type VolumePlace } from './reconcile/names.ts';

let nodesDir: string;
let place: VolumePlace;

beforeEach(async () => {
  nodesDir = await mkdtemp(join(tmpdir(), 'sagong-volumes-'));
  await mkdir(join(nodesDir, 'one'), { mode: 0o700 });
  place = placeOf({ nodesDir, simulated: false }, 'one', 'pvc-1');
});
afterEach(() => rm(nodesDir, { recursive: true, force: true }));

// Nodes with disks are there on Linux alone.
describe.skipIf(process.platform !== 'linux')('a volume', () => {
  it('is open for every user, and keeps what is in it', async () => {
    await directories.make(place);
    expect((await stat(place.path)).mode & 0o7777).toBe(0o777);
    await writeFile(join(place.path, 'a'), 'kept');
    await directories.make(place);
    expect(await readFile(join(place.path, 'a'), 'utf8')).toBe('kept');
  });

  it('goes with all that is in it, and its neighbours stay', async () => {
    const other = placeOf({ nodesDir, simulated: false }, 'one', 'pvc-2');
    await directories.make(place);
    await directories.make(other);
    await mkdir(join(place.path, 'deep', 'er'), { recursive: true });
    await directories.remove(place);
    await directories.remove(place);
    await expect(stat(place.path)).rejects.toThrow('ENOENT');
    expect((await stat(other.path)).isDirectory()).toBe(true);
  });

  it('needs the disk of its node, if only to be made', async () => {
    const lost = placeOf({ nodesDir, simulated: false }, 'two', 'pvc-1');
    await expect(directories.make(lost)).rejects.toThrow('node "two" has no disk on this machine');
    await directories.remove(lost);
  });

  it('is neither made nor removed through a link that the node has put in its way', async () => {
    const outside = join(nodesDir, 'outside');
    await mkdir(join(outside, 'pvc-1'), { recursive: true, mode: 0o700 });
    const refused = async (): Promise<void> => {
      await expect(directories.make(place)).rejects.toThrow('the path has a link in it');
      expect((await stat(join(outside, 'pvc-1'))).mode & 0o777).toBe(0o700);
    };
    await mkdir(join(nodesDir, 'one/volumes'));
    await symlink(join(outside, 'pvc-1'), place.path);
    await refused();
    // The link itself is all that there is to remove.
    await directories.remove(place);
    await rm(join(nodesDir, 'one/volumes'), { recursive: true });
    await symlink(outside, join(nodesDir, 'one/volumes'));
    await refused();
    await expect(directories.remove(place)).rejects.toThrow('the path has a link in it');
    expect((await stat(join(outside, 'pvc-1'))).isDirectory()).toBe(true);
  });
});
