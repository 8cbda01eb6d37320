// Volumes on real mounts: what they hold, that they follow their objects at once, and what is said when they cannot be had.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta';
import { execCommand } from '#host';
import type { ApiCall } from '#apimachinery/transport';
import { FakeApi } from '../../../src/kubelet/test-support/fake-api.ts';
import { missingForContainers, until } from './private-containerd.ts';
import { NodeWorld, shell, sleeper } from './node-world.ts';

const missing = missingForContainers();

/** Gives service account tokens that hold for two seconds. */
class TokenApi extends FakeApi {
  issued = 0;
  override async call<T>(call: ApiCall): Promise<T> {
    if (call.subresource !== 'token') return super.call<T>(call);
    const expirationTimestamp = new Date(Date.now() + 2_000).toISOString();
    return { status: { token: `token-${++this.issued}`, expirationTimestamp } } as T;
  }
}

describe.skipIf(missing !== undefined)(`volumes${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const api = new TokenApi();
  let world: NodeWorld;
  beforeAll(async () => {
    world = await NodeWorld.start('10.215.0.0/24', {}, {}, api);
  }, 60_000);
  afterAll(() => world?.stop(), 60_000);

  const configMap = (name: string, data: Record<string, string>): void =>
    api.put('configmaps', { kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data } as KubeObject);
  const secret = (name: string, value: string): void =>
    api.put('secrets', {
      kind: 'Secret',
      metadata: { name, namespace: 'default' },
      data: { key: Buffer.from(value).toString('base64') },
    } as KubeObject);
  const shows = (name: string, path: string, expected: string | RegExp): Promise<void> =>
    until(`${path} shows ${expected}`, 10_000, async () => (await world.run(name, ['cat', path])).match(expected) !== null);

  it('follow their ConfigMap, Secret, labels and token without being asked', async () => {
    configMap('live', { a: 'one' });
    secret('live', 'old');
    const sources = [
      { serviceAccountToken: { path: 'token', expirationSeconds: 600 } },
      { secret: { name: 'live', items: [{ key: 'key', path: 'nested/key' }] } },
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }] } },
    ];
    const volumeMounts = [
      { name: 'config', mountPath: '/config' },
      { name: 'all', mountPath: '/all' },
    ];
    const volumes = [
      { name: 'config', configMap: { name: 'live' } },
      { name: 'all', projected: { sources, defaultMode: 0o644 } },
    ];
    world.put('live', { containers: [sleeper({ volumeMounts })], volumes }, { labels: { v: '1' } });
    await world.ready('live');
    expect(await world.run('live', 'cat /config/a /all/nested/key /all/labels')).toBe('oneoldv="1"');
    configMap('live', { a: 'two', b: 'new' });
    secret('live', 'fresh');
    await shows('live', '/config/a', /^two$/);
    expect(await world.run('live', 'ls /config')).toBe('a\nb\n');
    await shows('live', '/all/nested/key', /^fresh$/);
    world.change('live', ({ metadata }) => Object.assign(metadata, { labels: { v: '2' } }));
    await shows('live', '/all/labels', /v="2"/);
    const token = await world.run('live', 'cat /all/token');
    expect(token).toMatch(/^token-\d+$/);
    await until('another token', 10_000, async () => (await world.run('live', 'cat /all/token')) !== token);
    await world.end('live');
    const watched = api.calls.filter(({ verb, resource }) => verb === 'list' && resource === 'configmaps').length;
    expect(watched).toBe(1);
  });

  it('of objects and tokens belong to whom they are for', async () => {
    configMap('owned', { a: 'one' });
    const sources = [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }, { configMap: { name: 'owned' } }];
    const volumes = [
      { name: 'config', configMap: { name: 'owned', items: [{ key: 'a', path: 'x/a', mode: 0o400 }] } },
      { name: 'all', projected: { sources, defaultMode: 0o644 } },
      { name: 'data', emptyDir: {} },
    ];
    const volumeMounts = [
      { name: 'config', mountPath: '/config' },
      { name: 'all', mountPath: '/all' },
      { name: 'data', mountPath: '/part', subPath: 'new' },
    ];
    const look = 'stat -L -c "%a %u %g" /config/x /config/x/a /all/token /all/a /part';
    const modes = async (name: string, securityContext: object): Promise<string[]> => {
      world.put(name, { securityContext, containers: [sleeper({ volumeMounts })], volumes });
      await world.ready(name);
      const text = await world.run(name, look);
      await world.end(name);
      return text.trim().split('\n');
    };
    expect(await modes('of-root', {})).toEqual(['755 0 0', '400 0 0', '644 0 0', '644 0 0', '777 0 0']);
    expect(await modes('of-user', { runAsUser: 1000 })).toEqual(['755 0 0', '400 0 0', '600 1000 0', '644 0 0', '777 0 0']);
    expect(await modes('of-group', { fsGroup: 2000 })).toEqual([
      '2755 0 2000',
      '440 0 2000',
      '640 0 2000',
      '644 0 2000',
      '2777 0 2000',
    ]);
  });

  it('of images show their files, for reading only, and go with their pod', async () => {
    const volumes = [{ name: 'image', image: { reference: 'busybox', pullPolicy: 'IfNotPresent' } }];
    const volumeMounts = [
      { name: 'image', mountPath: '/image' },
      { name: 'image', mountPath: '/part', subPath: 'bin' },
    ];
    world.put('image', { containers: [sleeper({ volumeMounts })], volumes });
    await world.ready('image');
    expect(await world.run('image', 'ls /image/bin/sh /part/sh; touch /image/x')).toMatch(
      /^\/image\/bin\/sh\n\/part\/sh\ntouch: \/image\/x: Read-only file system\n$/,
    );
    const views = async (): Promise<string> =>
      (await execCommand('ctr', ['--address', world.containerd.socket, '-n', 'k8s.io', 'snapshots', 'ls'])).stdout;
    expect(await views()).toContain('image-volume/uid-image/image');
    await world.node.close();
    await world.startKubelet();
    await world.end('image');
    expect(await views()).not.toContain('image-volume');
    const absent = [{ name: 'image', image: { reference: 'absent:1', pullPolicy: 'Never' } }];
    world.put('noimage', { containers: [sleeper({ volumeMounts })], volumes: absent });
    await world.event('noimage', 'ErrImageNeverPull: Container image "absent:1" is not present with pull policy of Never');
    await world.status(
      'noimage',
      'waits for the image',
      ({ containerStatuses }) => containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImageNeverPull',
    );
    await world.end('noimage');
  });

  it('mount parts of themselves', async () => {
    configMap('part', { 'a.txt': 'file' });
    const env = [{ name: 'WHERE', value: 'sub' }];
    const volumeMounts = [
      { name: 'config', mountPath: '/etc/a.txt', subPath: 'a.txt' },
      { name: 'data', mountPath: '/made', subPath: 'x/y' },
      { name: 'data', mountPath: '/expanded', subPathExpr: '$(WHERE)/z' },
      { name: 'data', mountPath: '/data', readOnly: true },
    ];
    const volumes = [
      { name: 'config', configMap: { name: 'part' } },
      { name: 'data', emptyDir: {} },
    ];
    world.put('part', { containers: [sleeper({ env, volumeMounts })], volumes });
    await world.ready('part');
    await world.run('part', 'echo one > /made/f; echo two > /expanded/f');
    expect(await world.run('part', 'cat /etc/a.txt /data/x/y/f /data/sub/z/f; echo no > /data/f')).toMatch(
      /^fileone\ntwo\n.*Read-only file system\n$/,
    );
    await world.end('part');
    const escaping = [{ name: 'data', mountPath: '/out', subPath: 'link' }];
    const initContainers = [
      shell('ln -s /etc /data/link', { name: 'init', volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
    ];
    world.put('escape', {
      initContainers,
      containers: [sleeper({ volumeMounts: escaping })],
      volumes: [{ name: 'data', emptyDir: {} }],
    });
    const text = 'failed to prepare subPath for volumeMount "data" of container "app"';
    await world.event('escape', `Failed: Error: ${text}`);
    await world.status('escape', 'says why', ({ containerStatuses }) => {
      const { reason, message } = containerStatuses?.[0]?.state?.waiting ?? {};
      return reason === 'CreateContainerConfigError' && message === text;
    });
    await world.end('escape');
  });

  it('say what is missing', async () => {
    const file = join(world.containerd.directory, 'a-file');
    await writeFile(file, '');
    configMap('known', { a: '1' });
    const cases: [string, object, string][] = [
      [
        'nodir',
        { hostPath: { path: '/nowhere/at/all', type: 'Directory' } },
        'hostPath type check failed: /nowhere/at/all is not a directory',
      ],
      [
        'notdir',
        { hostPath: { path: file, type: 'DirectoryOrCreate' } },
        `hostPath type check failed: ${file} is not a directory`,
      ],
      ['nosocket', { hostPath: { path: file, type: 'Socket' } }, `hostPath type check failed: ${file} is not a socket file`],
      [
        'nochar',
        { hostPath: { path: file, type: 'CharDevice' } },
        `hostPath type check failed: ${file} is not a character device`,
      ],
      ['nomap', { configMap: { name: 'absent' } }, 'configmap "absent" not found'],
      ['nosecret', { secret: { secretName: 'absent' } }, 'secret "absent" not found'],
      [
        'nokey',
        { configMap: { name: 'known', items: [{ key: 'b', path: 'b' }] } },
        'configmap references non-existent config key: b',
      ],
    ];
    for (const [name, source] of cases)
      world.put(name, {
        containers: [sleeper({ volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
        volumes: [{ name: 'v', ...source }],
      });
    for (const [name, , text] of cases) await world.event(name, `FailedMount: MountVolume.SetUp failed for volume "v" : ${text}`);
    configMap('absent', { a: 'late' });
    await world.ready('nomap');
    for (const [name] of cases) await world.end(name);
  });

  it('of no medium are held to their limit', async () => {
    const volumeMounts = [{ name: 'data', mountPath: '/data' }];
    const volumes = [{ name: 'data', emptyDir: { sizeLimit: '1Mi' } }];
    const fill = (path: string) => shell(`head -c 2000000 /dev/zero > ${path}; sleep 3600`, { volumeMounts });
    world.put('big', { restartPolicy: 'Never', containers: [fill('/data/f')], volumes });
    const limits = { 'ephemeral-storage': '1Mi' };
    world.put('layer', { restartPolicy: 'Never', containers: [{ ...fill('/f'), resources: { limits } }], volumes });
    await world.status('big', 'is evicted', ({ phase }) => phase === 'Failed');
    const message = 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ';
    expect(world.pod('big')?.status).toMatchObject({ reason: 'Evicted', message });
    await world.event('big', `Evicted: ${message}`);
    await world.status('layer', 'is evicted', ({ phase }) => phase === 'Failed');
    await world.event('layer', 'Evicted: Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ');
    for (const name of ['big', 'layer']) await world.end(name);
  }, 90_000);
});
