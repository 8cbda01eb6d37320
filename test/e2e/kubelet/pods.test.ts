// The kubelet with a real containerd: pods run, restart, are probed, mount volumes, end. The API is the unit tests' small one.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { createClient } from '#client';
import { systemClock, systemRng } from '#host';
import { defaultOptions, type KubeletHandle, runKubelet } from '#kubelet';
import { silentLogger } from '#utils';
import { FakeApi } from '../../../src/kubelet/test-support/fake-api.ts';
import { missingForContainers, type PrivateContainerd, startContainerd, until } from './private-containerd.ts';

const missing = missingForContainers();
const podResource = { group: '', version: 'v1', resource: 'pods' };
const waitMs = 60_000;

describe.skipIf(missing !== undefined)(`kubelet with containerd${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const api = new FakeApi();
  let containerd: PrivateContainerd;
  let node: KubeletHandle;

  const start = async (): Promise<KubeletHandle> => {
    const { directory, endpoint } = containerd;
    const options = {
      ...defaultOptions('n1'),
      nodeIPs: ['127.0.0.1'],
      rootDir: `${directory}/kubelet`,
      podLogsDir: `${directory}/pod-logs`,
      containerRuntimeEndpoint: endpoint,
      cgroupRoot: directory.slice(directory.lastIndexOf('/') + 1),
      clusterDNS: ['10.96.0.10'],
    };
    const logger = process.env['DEBUG_KUBELET'] ? consoleLogger() : silentLogger;
    return runKubelet(options, { client: createClient(api), clock: systemClock(), rng: systemRng(), logger });
  };
  beforeAll(async () => {
    containerd = await startContainerd();
    node = await start();
  });
  afterAll(async () => {
    try {
      await node?.close();
    } finally {
      await containerd?.stop();
    }
  });

  const put = (name: string, spec: Pod['spec'], metadata: Partial<Pod['metadata']> = {}): void =>
    api.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'default',
        uid: `uid-${name}`,
        generation: 1,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...metadata,
      },
      spec: {
        nodeName: 'n1',
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 2,
        enableServiceLinks: true,
        dnsPolicy: 'ClusterFirst',
        ...spec,
      },
      status: { phase: 'Pending' },
    } as Pod);
  const pod = (name: string): Pod | undefined => api.get<Pod>('pods', 'default', name);
  const condition = (name: string, type: string): string | undefined =>
    pod(name)?.status?.conditions?.find((item) => item.type === type)?.status;
  const ready = (name: string): Promise<void> =>
    until(`${name} is ready: ${JSON.stringify(pod(name)?.status)}`, waitMs, async () => condition(name, 'Ready') === 'True');
  const end = async (name: string): Promise<void> => {
    await createClient(api).resource<Pod>(podResource, 'default').delete(name);
    await until(`${name} is gone`, waitMs, async () => pod(name) === undefined);
  };
  const run = async (name: string, command: string[], container = 'app'): Promise<string> => {
    const id =
      pod(name)
        ?.status?.[container === 'side' ? 'initContainerStatuses' : 'containerStatuses']?.find(
          (status) => status.name === container,
        )
        ?.containerID?.split('://')[1] ?? '';
    const { stdout, stderr } = await node.kubelet.parts.runtime.exec(id, command, 5000);
    return Buffer.concat([stdout, stderr]).toString('utf8');
  };
  const events = (name: string): string[] =>
    [...api.objects.values()]
      .filter((object) => (object as KubeObject & { involvedObject?: { name: string } }).involvedObject?.name === name)
      .map(
        (object) =>
          `${(object as KubeObject & { reason: string }).reason}: ${(object as KubeObject & { message: string }).message}`,
      );
  const sleeper = (extra: object = {}) => ({
    name: 'app',
    image: 'busybox',
    imagePullPolicy: 'IfNotPresent',
    command: ['sleep', '3600'],
    terminationMessagePath: '/dev/termination-log',
    ...extra,
  });

  it('is a Ready node with its runtime and images', async () => {
    const status = api.get<
      KubeObject & {
        status: {
          conditions: { type: string; status: string }[];
          images: unknown[];
          nodeInfo: { containerRuntimeVersion: string };
        };
      }
    >('nodes', '', 'n1')?.status;
    expect(status?.nodeInfo.containerRuntimeVersion).toMatch(/^containerd:\/\/\d/);
    expect(status?.conditions.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'True',
      message: 'kubelet is posting ready status',
    });
    expect(JSON.stringify(status?.images)).toContain('busybox:latest');
  });

  it('runs a pod with environment, files, hosts, DNS and limits, and takes all of it away', async () => {
    api.put('configmaps', {
      metadata: { name: 'cfg', namespace: 'default' },
      data: { 'a.txt': 'one', KEY: 'value' },
    } as KubeObject);
    api.put('secrets', {
      metadata: { name: 'sec', namespace: 'default' },
      data: { pass: Buffer.from('hush').toString('base64') },
    } as KubeObject);
    put(
      'web',
      {
        hostAliases: [{ ip: '1.2.3.4', hostnames: ['alias.test'] }],
        securityContext: { fsGroup: 2000 },
        containers: [
          sleeper({
            env: [
              { name: 'BASE', value: 'x' },
              { name: 'FULL', value: '$(BASE)-$(MISSING)' },
              { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
              { name: 'CFG', valueFrom: { configMapKeyRef: { name: 'cfg', key: 'KEY' } } },
              { name: 'SEC', valueFrom: { secretKeyRef: { name: 'sec', key: 'pass' } } },
              { name: 'MEM', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
            ],
            resources: { limits: { memory: '64Mi', cpu: '200m' }, requests: { memory: '64Mi', cpu: '200m' } },
            volumeMounts: [
              { name: 'cfg', mountPath: '/cfg' },
              { name: 'sec', mountPath: '/sec' },
              { name: 'tmp', mountPath: '/scratch' },
              { name: 'down', mountPath: '/down' },
            ],
          }),
        ],
        volumes: [
          { name: 'cfg', configMap: { name: 'cfg' } },
          { name: 'sec', secret: { secretName: 'sec', defaultMode: 0o400 } },
          { name: 'tmp', emptyDir: { medium: 'Memory' } },
          { name: 'down', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      } as Pod['spec'],
      { labels: { app: 'web' } },
    );
    await ready('web');
    const environment = await run('web', ['env']);
    const podIP = pod('web')?.status?.podIP ?? '';
    expect(podIP).toMatch(/^10\.211\.0\./);
    for (const line of ['FULL=x-$(MISSING)', `IP=${podIP}`, 'CFG=value', 'SEC=hush', 'MEM=64'])
      expect(environment).toContain(line);
    expect(await run('web', ['sh', '-c', 'cat /cfg/a.txt /sec/pass /down/labels'])).toBe('onehushapp="web"');
    expect(await run('web', ['stat', '-L', '-c', '%a %g', '/sec/pass'])).toBe('440 2000\n');
    expect(await run('web', ['cat', '/etc/hosts'])).toContain(`${podIP}\tweb\n`);
    expect(await run('web', ['cat', '/etc/hosts'])).toContain('1.2.3.4\talias.test');
    expect(await run('web', ['cat', '/etc/resolv.conf'])).toMatch(
      /default\.svc\.cluster\.local[^]*nameserver 10\.96\.0\.10[^]*ndots:5/,
    );
    expect(await run('web', ['cat', '/sys/fs/cgroup/memory/memory.limit_in_bytes'])).toBe('67108864\n');
    expect(pod('web')?.status).toMatchObject({ qosClass: 'Guaranteed', phase: 'Running' });
    expect(events('web')).toEqual(
      expect.arrayContaining([
        'Pulled: Container image "busybox" already present on machine and can be accessed by the pod',
        'Created: Container created',
        'Started: Container started',
      ]),
    );
    const grown = structuredClone(pod('web')) as Pod;
    Object.assign(grown.spec?.containers[0] ?? {}, {
      resources: { limits: { memory: '96Mi', cpu: '200m' }, requests: { memory: '96Mi', cpu: '200m' } },
    });
    api.put('pods', grown);
    await until(
      'resized',
      waitMs,
      async () => (await run('web', ['cat', '/sys/fs/cgroup/memory/memory.limit_in_bytes'])) === '100663296\n',
    );
    expect(pod('web')?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0 });
    await end('web');
    expect(events('web')).toContain('Killing: Stopping container app');
    const mounts = await readFile('/proc/self/mountinfo', 'utf8');
    expect(mounts).not.toContain(`${containerd.directory}/kubelet/pods/uid-web`);
  });

  it('backs off a crashing container and shows its termination message', async () => {
    put('crash', {
      containers: [sleeper({ command: ['sh', '-c', 'echo broken > /dev/termination-log; exit 7'] })],
    } as Pod['spec']);
    await until(
      'back-off',
      waitMs,
      async () => pod('crash')?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
    );
    expect(pod('crash')?.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 7, reason: 'Error', message: 'broken\n' } },
    });
    await end('crash');
  });

  it('says why an image cannot be had', async () => {
    put('noimage', { containers: [sleeper({ image: 'nowhere.invalid/x:1', imagePullPolicy: 'Never' })] } as Pod['spec']);
    await until(
      'reason',
      waitMs,
      async () => pod('noimage')?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImageNeverPull',
    );
    expect(pod('noimage')?.status?.containerStatuses?.[0]?.state?.waiting?.message).toBe(
      'Container image "nowhere.invalid/x:1" is not present with pull policy of Never',
    );
    await end('noimage');
  });

  it('runs init containers in turn, keeps a sidecar, and probes', async () => {
    put('staged', {
      initContainers: [
        sleeper({
          name: 'first',
          command: ['sh', '-c', 'echo first >> /data/log'],
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        }),
        sleeper({
          name: 'side',
          restartPolicy: 'Always',
          command: ['sh', '-c', 'echo side >> /data/log; sleep 3600'],
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        }),
      ],
      containers: [
        sleeper({
          command: [
            'sh',
            '-c',
            'until test -e /data/go; do sleep 0.1; done; mkdir /www; echo ok > /www/health; exec httpd -f -p 8080 -h /www',
          ],
          ports: [{ name: 'http', containerPort: 8080 }],
          readinessProbe: {
            httpGet: { path: '/health', port: 'http' },
            periodSeconds: 1,
            timeoutSeconds: 1,
            failureThreshold: 1,
            successThreshold: 1,
          },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        }),
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    } as Pod['spec']);
    const unhealthy = 'Unhealthy: Readiness probe failed: Get "http://10.211.0.';
    await until('a failed probe', waitMs, async () => events('staged').some((text) => text.startsWith(unhealthy)));
    await run('staged', ['touch', '/data/go'], 'side');
    await ready('staged');
    expect(await run('staged', ['cat', '/data/log'])).toBe('first\nside\n');
    expect(pod('staged')?.status?.initContainerStatuses).toMatchObject([
      { state: { terminated: { reason: 'Completed' } } },
      { started: true, ready: true },
    ]);
    await end('staged');
  });

  it('restarts a container whose liveness probe fails', async () => {
    put('sick', {
      containers: [
        sleeper({
          livenessProbe: { exec: { command: ['cat', '/nothing'] }, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 1 },
        }),
      ],
    } as Pod['spec']);
    await until('restart', waitMs, async () => (pod('sick')?.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
    await until('its reason', waitMs, async () =>
      events('sick').includes('Killing: Container app failed liveness probe, will be restarted'),
    );
    await end('sick');
  });

  it('takes up running pods again after a restart, and ends those that are no longer wanted', async () => {
    const volumes = [{ name: 'data', emptyDir: { medium: 'Memory' } }];
    const containers = [sleeper({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })];
    put('kept', { containers, volumes } as Pod['spec']);
    put('orphan', { containers, volumes } as Pod['spec']);
    await ready('kept');
    await ready('orphan');
    await run('kept', ['sh', '-c', 'echo here > /data/file']);
    const before = pod('kept')?.status?.containerStatuses?.[0]?.containerID;
    await node.close();
    api.objects.delete('pods/default/orphan');
    node = await start();
    await until('orphan is ended', waitMs, async () =>
      (await node.kubelet.parts.runtime.list()).every(({ name }) => name !== 'orphan'),
    );
    await until('the pod is known again', waitMs, async () => node.kubelet.workers.get('uid-kept') !== undefined);
    expect(pod('kept')?.status?.containerStatuses?.[0]).toMatchObject({ containerID: before, restartCount: 0, ready: true });
    expect(await run('kept', ['cat', '/data/file'])).toBe('here\n');
    await end('kept');
  });

  it('finishes a pod that is to run once', async () => {
    put('once', { restartPolicy: 'Never', containers: [sleeper({ command: ['true'] })] } as Pod['spec']);
    await until('done', waitMs, async () => pod('once')?.status?.phase === 'Succeeded');
    await end('once');
  });
});

function consoleLogger(): typeof silentLogger {
  const write = (message: string, values?: object): void =>
    void process.stderr.write(`${message} ${JSON.stringify(values ?? {})}\n`);
  const logger = { error: write, warn: write, info: write, debug: write, with: () => logger };
  return logger;
}
