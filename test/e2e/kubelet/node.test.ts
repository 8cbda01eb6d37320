// The node around its pods: security settings, runtime classes, log rotation, image collection, disk pressure, a containerd that restarts.
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { buildImage, importImage } from '#cluster/images';
import { missingForContainers, until } from './private-containerd.ts';
import { NodeWorld, shell, sleeper } from './node-world.ts';

const missing = missingForContainers();

describe.skipIf(missing !== undefined)(`node${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let world: NodeWorld;
  beforeAll(async () => {
    world = await NodeWorld.start('10.216.0.0/24', { containerLogMaxBytes: 4096, containerLogMaxFiles: 3 });
  }, 60_000);
  afterAll(() => world?.stop(), 60_000);

  it('applies security settings', async () => {
    const securityContext = {
      runAsUser: 1234,
      runAsGroup: 2345,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    };
    world.put('secure', {
      securityContext: { supplementalGroups: [3456], sysctls: [{ name: 'net.ipv4.ip_local_port_range', value: '2000 3000' }] },
      containers: [
        sleeper({ securityContext }),
        sleeper({ name: 'net', securityContext: { capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } } }),
        sleeper({ name: 'open', securityContext: { privileged: true } }),
      ],
    });
    await world.ready('secure');
    expect(await world.run('secure', 'id -u; id -g; id -G; touch /x')).toMatch(
      /^1234\n2345\n2345 3456\ntouch: \/x: Read-only file system\n$/,
    );
    const status = await world.run('secure', 'grep -E "CapEff|NoNewPrivs|Seccomp:" /proc/self/status');
    expect(status).toMatch(/CapEff:\s+0+\nNoNewPrivs:\s+1\nSeccomp:\s+2\n/);
    expect(await world.run('secure', 'grep CapEff /proc/self/status', 'net')).toMatch(/CapEff:\s+0+1000\n/);
    expect(await world.run('secure', 'test -e /dev/kmsg && grep Seccomp: /proc/self/status', 'open')).toMatch(/Seccomp:\s+0\n/);
    expect(await world.run('secure', 'cat /proc/sys/net/ipv4/ip_local_port_range')).toMatch(/^2000\s+3000\n$/);
    await world.end('secure');
    world.put('root', { securityContext: { runAsNonRoot: true }, containers: [sleeper()] });
    const text = 'container has runAsNonRoot and image will run as root (pod: "root_default(uid-root)", container: app)';
    await world.event('root', `Failed: Error: ${text}`);
    await world.end('root');
  });

  it('sets no unsafe sysctls unless they are allowed', async () => {
    const sysctls = [{ name: 'net.core.somaxconn', value: '777' }];
    const pod = { securityContext: { sysctls }, containers: [sleeper()] };
    world.put('unsafe', pod);
    await world.status('unsafe', 'is refused', ({ phase }) => phase === 'Failed');
    const { reason, message } = world.pod('unsafe')?.status ?? {};
    const text = 'forbidden sysctl: "net.core.somaxconn" not allowlisted';
    expect({ reason, message }).toEqual({ reason: 'SysctlForbidden', message: `Pod was rejected: ${text}` });
    await world.event('unsafe', `SysctlForbidden: ${text}`);
    world.put('host', { hostNetwork: true, ...pod });
    await world.status('host', 'is refused', ({ phase }) => phase === 'Failed');
    await world.node.close();
    await world.startKubelet({ allowedUnsafeSysctls: ['net.core.*'] });
    world.put('allowed', pod);
    await world.ready('allowed');
    expect(await world.run('allowed', 'cat /proc/sys/net/core/somaxconn')).toBe('777\n');
    for (const name of ['unsafe', 'host', 'allowed']) await world.end(name);
  });

  it('bounds the processes of a pod', async () => {
    await world.node.close();
    await world.startKubelet({ podPidsMax: 20 });
    world.put('forks', { containers: [sleeper({ resources: { requests: { cpu: '1m' } } })] });
    await world.ready('forks');
    const output = await world.run('forks', 'for i in $(seq 40); do sleep 2 >/dev/null 2>&1 & done');
    expect(output).toContain("can't fork");
    await world.end('forks');
  });

  it('passes the handler of a RuntimeClass on', async () => {
    const put = (name: string, handler: string): void =>
      world.api.put('runtimeclasses', { kind: 'RuntimeClass', metadata: { name }, handler } as unknown as KubeObject);
    put('plain', 'runc');
    put('odd', 'nothing');
    world.put('plain', { runtimeClassName: 'plain', containers: [sleeper()] });
    world.put('odd', { runtimeClassName: 'odd', containers: [sleeper()] });
    await world.ready('plain');
    await world.event('odd', /^FailedCreatePodSandBox: Failed to create pod sandbox: .*no runtime for "nothing" is configured$/);
    for (const name of ['plain', 'odd']) await world.end(name);
  });

  it('rotates logs, compresses the old ones and keeps no more than told', async () => {
    world.put('talker', { containers: [shell('i=0; while true; do echo "line $i"; i=$((i+1)); sleep 0.02; done')] });
    await world.ready('talker');
    const directory = join(world.containerd.directory, 'pod-logs', 'default_talker_uid-talker', 'app');
    await until('rotated twice', 60_000, async () => {
      const files = await readdir(directory);
      return files.length === 3 && files.some((file) => file.endsWith('.gz')) && files.includes('0.log');
    });
    await world.end('talker');
  }, 90_000);

  it('has running pods still when containerd comes back, and sees what happened meanwhile', async () => {
    const path = join(world.containerd.directory, 'ends');
    const onlyOnce = shell('test -f /data/ended && sleep 3600; until test -f /data/end; do sleep 0.1; done; touch /data/ended', {
      name: 'ends',
      volumeMounts: [{ name: 'd', mountPath: '/data' }],
    });
    const volumes = [{ name: 'd', hostPath: { path, type: 'DirectoryOrCreate' } }];
    world.put('kept', { containers: [sleeper(), onlyOnce], volumes });
    await world.ready('kept');
    const statuses = () => world.pod('kept')?.status?.containerStatuses ?? [];
    const before = statuses()[0]?.containerID;
    await world.containerd.kill();
    const ready = (): string | undefined =>
      world.api.get<Node>('nodes', '', 'n1')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    await until('the node is not ready', 30_000, async () => ready() === 'False');
    await writeFile(join(path, 'end'), '');
    await until('the other ends', 30_000, async () => existsSync(join(path, 'ended')));
    await world.containerd.restart();
    await until('the node is ready', 30_000, async () => ready() === 'True');
    await world.status(
      'kept',
      'has started the other again',
      () => (statuses()[1]?.restartCount ?? 0) === 1 && statuses()[1]?.ready,
    );
    expect(statuses()[0]).toMatchObject({ containerID: before, restartCount: 0, ready: true });
    expect(await world.run('kept', 'echo still')).toBe('still\n');
    await world.end('kept');
  }, 120_000);

  it('collects unused images when the disk is fuller than allowed', async () => {
    const options = { imageGcHighPercent: 1, imageGcLowPercent: 0, imageAgeMsMin: 0 };
    const other = buildImage({
      reference: 'registry.test/unused:1',
      architecture: 'amd64',
      config: {},
      files: [{ name: 'a', mode: 0o644, content: Buffer.from('a') }],
    });
    await importImage({ socket: world.containerd.socket }, other);
    world.put('user', { containers: [sleeper()] });
    await world.ready('user');
    const names = async (): Promise<string[]> =>
      (await world.node.kubelet.parts.runtime.images.list()).flatMap(({ repoTags }) => repoTags);
    expect(await names()).toContain('registry.test/unused:1');
    await world.node.close();
    await world.startKubelet(options);
    await until('the image is gone', 30_000, async () => !(await names()).includes('registry.test/unused:1'));
    expect((await names()).some((name) => name.includes('busybox'))).toBe(true);
    await world.end('user');
  }, 60_000);
});
