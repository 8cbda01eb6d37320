// docs/contributing.md, "I want to add a volume source": a folder, and a line in the list. This test follows the recipe in a copy of the room and makes a
// pod's volumes with it.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import type { VolumeManager } from '../../../src/kubelet/volumes/manager.ts';
import { importing, replacing, treeWith } from './tree.ts';

/** The folder that a contributor writes. */
const folder = `// flexVolume of the driver example.com/greeting: a directory with a file that greets.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VolumePlugin } from '../plugin.ts';

export const greeting: VolumePlugin = {
  name: 'greeting',
  serves: (volume) => volume.flexVolume?.driver === 'example.com/greeting',
  async setUp({ volume, path }) {
    const text = volume.flexVolume?.options?.['text'];
    if (!text) throw new Error('a greeting needs a text');
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'greeting'), text);
    return { hostPath: path, readOnly: false };
  },
};
`;
const tree = treeWith('kubelet', {
  'volumes/plugins/greeting/index.ts': folder,
  'volumes/plugins/index.ts': importing(
    "import { greeting } from './greeting/index.ts';",
    replacing('all: [', 'all: [greeting, '),
  ),
});

const podWith = (uid: string, options: Record<string, string>): Pod => ({
  metadata: { name: 'web', namespace: 'default', uid },
  spec: {
    containers: [{ name: 'c', image: 'x', volumeMounts: [{ name: 'hello', mountPath: '/hello' }] }],
    volumes: [{ name: 'hello', flexVolume: { driver: 'example.com/greeting', options } }],
  },
});

test('a volume source is one folder and a line: its volumes are set up, told when they fail, and removed', async () => {
  const module = await tree.load<{ VolumeManager: typeof VolumeManager }>('volumes/manager.ts');
  const rootDir = await mkdtemp(join(tmpdir(), 'sagong-volumes-'));
  const unused = {} as never;
  const direct = { configMap: () => Promise.resolve(undefined), secret: () => Promise.resolve(undefined) } as never;
  const manager = new module.VolumeManager({
    ...{
      client: unused,
      recorder: unused,
      exec: unused,
      tokens: { nextDueMs: () => undefined, forget() {} } as never,
      downward: unused,
      snapshots: unused,
      csi: { tearDown: () => Promise.resolve() } as never,
      direct,
    },
    ...{ clock: systemClock(), rng: systemRng(), logger: silentLogger, rootDir },
  });
  try {
    await manager.mount(podWith('1', { text: 'good morning' }));
    const { hostPath = '' } = manager.mounted('1').get('hello') ?? {};
    expect(await readFile(join(hostPath, 'greeting'), 'utf8')).toBe('good morning');
    await expect(manager.mount(podWith('2', {}))).rejects.toThrow(
      'MountVolume.SetUp failed for volume "hello" : a greeting needs a text',
    );
    await manager.unmount('1');
    await expect(stat(hostPath)).rejects.toThrow('ENOENT');
  } finally {
    manager.close();
    await rm(rootDir, { recursive: true });
  }
});
