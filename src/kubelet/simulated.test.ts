import { afterEach, describe, expect, it } from 'vitest';
import type { Node, Pod } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { createClient } from '#client';
import { seededRng, silentLogger } from '#utils';
import type { Kubelet } from './kubelet.ts';
import { resourceMetrics } from './server/metrics.ts';
import { statsSummary } from './server/stats.ts';
import type { SimulatedRuntime } from './runtime/simulated/index.ts';
import { createSimulatedNode, createSimulatedRuntime } from './simulated.ts';
import { FakeApi } from './test-support/fake-api.ts';
import { ManualClock, settle } from './test-support/manual-clock.ts';

const running: Kubelet[] = [];
afterEach(() => {
  for (const kubelet of running.splice(0)) kubelet.close();
});

const podOf = (name: string, spec: Partial<Pod['spec']> = {}, annotations: Record<string, string> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: `uid-${name}`, generation: 1, annotations },
  spec: { nodeName: 'n1', restartPolicy: 'Always', containers: [{ name: 'app', image: 'nginx' }], ...spec },
  status: { phase: 'Pending' },
});

async function start(runtime?: SimulatedRuntime): Promise<{ api: FakeApi; clock: ManualClock; kubelet: Kubelet }> {
  const api = new FakeApi();
  const clock = new ManualClock();
  const client = createClient(api);
  const kubelet = createSimulatedNode(
    { name: 'n1', nodeIP: '10.0.0.1', podCIDR: '10.1.0.0/24' },
    { client, clock, rng: seededRng(1), logger: silentLogger, ...(runtime && { runtime }) },
  );
  running.push(kubelet);
  await kubelet.start();
  return { api, clock, kubelet };
}

const events = (api: FakeApi): string[] =>
  [...api.objects]
    .filter(([path]) => path.startsWith('events/'))
    .map(
      ([, event]) =>
        `${(event as KubeObject & { reason: string }).reason}: ${(event as KubeObject & { message: string }).message}`,
    );

describe('a simulated node', () => {
  it('that is closed before it could register, in a try or between two, is at the end of its start', async () => {
    let tries = 0;
    const call: FakeApi['call'] = () => {
      tries++;
      return Promise.reject(new Error('store is closed'));
    };
    const clock = new ManualClock();
    const client = createClient(Object.assign(new FakeApi(), { call }));
    for (const waitFirst of [false, true]) {
      const kubelet = createSimulatedNode({ name: 'n1' }, { client, clock, rng: seededRng(1), logger: silentLogger });
      const started = kubelet.start();
      if (waitFirst) await settle();
      kubelet.close();
      await started;
    }
    expect(tries).toBeGreaterThan(0);
  });
  it('registers, is Ready, says that it is simulated and renews its lease', async () => {
    const { api, clock } = await start();
    const node = api.get<Node>('nodes', '', 'n1');
    expect(node?.metadata.labels).toMatchObject({ 'kubernetes.io/hostname': 'n1', 'sagong.dev/runtime': 'simulated' });
    expect(node?.status?.nodeInfo?.containerRuntimeVersion).toBe('simulated://1.0.0');
    expect(node?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
      'MemoryPressure=False KubeletHasSufficientMemory',
      'DiskPressure=False KubeletHasNoDiskPressure',
      'PIDPressure=False KubeletHasSufficientPID',
      'Ready=True KubeletReady',
    ]);
    const renewals = (): number => api.calls.filter(({ resource, verb }) => resource === 'leases' && verb === 'update').length;
    const before = renewals();
    await clock.advance(31_000);
    expect(renewals() - before).toBeGreaterThanOrEqual(2);
  });

  it('tells by events that it starts, how it is, and whether it may be scheduled to', async () => {
    const { api, clock } = await start();
    await settle();
    const now = (reason: string): string => `${reason}: Node n1 status is now: ${reason}`;
    const first = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'].map(now);
    expect(events(api)).toEqual(['Starting: Starting kubelet.', ...first]);
    const cordon = async (unschedulable: boolean): Promise<void> => {
      const node = api.get<Node>('nodes', '', 'n1') as Node;
      const cordoned: Node = { ...node, spec: { ...node.spec, unschedulable } };
      api.put('nodes', cordoned);
      await clock.advance(25_000);
    };
    await cordon(true);
    await cordon(false);
    expect(events(api).slice(4)).toEqual(['NodeNotSchedulable', 'NodeSchedulable'].map(now));
  });

  it('runs a pod and reports it without any timer of its own', async () => {
    const { api, clock } = await start();
    const timers = clock.pending;
    api.put('pods', podOf('web'));
    await settle();
    const { status } = api.get<Pod>('pods', 'default', 'web') ?? {};
    expect(status).toMatchObject({
      phase: 'Running',
      podIP: '10.1.0.2',
      hostIP: '10.0.0.1',
      qosClass: 'BestEffort',
      observedGeneration: 1,
    });
    expect(
      status?.conditions
        ?.filter(({ status: value }) => value === 'True')
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['ContainersReady', 'Initialized', 'PodReadyToStartContainers', 'PodScheduled', 'Ready']);
    expect(clock.pending).toBe(timers);
    expect(events(api)).toEqual(
      expect.arrayContaining(['Pulling: Pulling image "nginx"', 'Created: Container created', 'Started: Container started']),
    );
  });

  it('says that containers can start before their images are pulled, where that takes time', async () => {
    const runtime = createSimulatedRuntime({ name: 'n1' }, { clock: new ManualClock(), rng: seededRng(1) });
    Object.defineProperty(runtime, 'simulated', { value: false });
    runtime.images.pull = () => new Promise(() => {});
    const { api } = await start(runtime);
    api.put('pods', podOf('web'));
    await settle();
    const { status } = api.get<Pod>('pods', 'default', 'web') ?? {};
    expect(status?.phase).toBe('Pending');
    expect(status?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status).toBe('True');
    expect(status?.conditions?.find(({ type }) => type === 'ContainersReady')?.status).toBe('False');
  });

  it('is not ready where its annotation says so, with a readiness probe or without one', async () => {
    const { api, clock } = await start();
    const readinessProbe = { httpGet: { port: 80 } };
    const annotations = { 'simulated.sagong.dev/ready': 'false' };
    api.put('pods', podOf('plain', {}, annotations));
    api.put('pods', podOf('probed', { containers: [{ name: 'app', image: 'nginx', readinessProbe }] }, annotations));
    api.put('pods', podOf('well'));
    await clock.advance(5_000);
    const ready = (name: string): boolean | undefined =>
      api.get<Pod>('pods', 'default', name)?.status?.containerStatuses?.[0]?.ready;
    expect([ready('plain'), ready('probed'), ready('well')]).toEqual([false, false, true]);
  });

  it('starts a container after the delay asked for, once', async () => {
    const { api, clock } = await start();
    const delayed = { 'simulated.sagong.dev/start-delay': '3s' };
    api.put('pods', podOf('slow', {}, delayed));
    api.put('pods', podOf('gone', {}, delayed));
    await clock.advance(2_900);
    const phase = (name: string) => api.get<Pod>('pods', 'default', name)?.status?.phase;
    expect([phase('slow'), phase('gone')]).toEqual(['Pending', 'Pending']);
    const gone = api.get<Pod>('pods', 'default', 'gone') as Pod;
    api.put('pods', {
      ...gone,
      metadata: { ...gone.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 },
    });
    await clock.advance(5_000);
    expect([phase('slow'), phase('gone')]).toEqual(['Running', undefined]);
    const { containerStatuses } = api.get<Pod>('pods', 'default', 'slow')?.status ?? {};
    expect(containerStatuses?.[0]).toMatchObject({ restartCount: 0, started: true });
    expect(events(api).filter((text) => text.startsWith('Created'))).toHaveLength(2);
  });

  it('lets a deleted pod go only when everything is off the node', async () => {
    const { api } = await start();
    api.put('pods', podOf('web'));
    await settle();
    await createClient(api).resource<Pod>({ group: '', version: 'v1', resource: 'pods' }, 'default').delete('web');
    await settle();
    expect(api.get('pods', 'default', 'web')).toBeUndefined();
    const last = api.calls.filter(({ verb }) => verb === 'delete').at(-1);
    expect(last?.deleteOptions).toMatchObject({ gracePeriodSeconds: 0, preconditions: { uid: 'uid-web' } });
    const patches = api.calls.filter(({ subresource }) => subresource === 'status');
    expect(JSON.stringify(patches)).toContain('"phase":"Succeeded"');
  });

  it("backs off a crashing container with upstream's reason and message", async () => {
    const { api, clock } = await start();
    api.put('pods', podOf('bad', {}, { 'simulated.sagong.dev/exit-code': '3', 'simulated.sagong.dev/run-for': '1s' }));
    await clock.advance(2_500);
    const status = () => api.get<Pod>('pods', 'default', 'bad')?.status?.containerStatuses?.[0];
    expect(status()).toMatchObject({
      restartCount: 1,
      state: {
        waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container=app pod=bad_default(uid-bad)' },
      },
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
    });
    await clock.advance(12_000);
    expect(status()?.restartCount).toBe(2);
    expect(status()?.state?.waiting?.message).toContain('back-off 20s');
  });

  it('does not try again at once what has failed because it wrote that down', async () => {
    const { api, clock } = await start();
    api.put('pods', podOf('lost', {}, { 'simulated.sagong.dev/image-error': 'not found' }));
    await clock.advance(1_000);
    const calls = (): number => api.calls.filter(({ resource }) => resource === 'events').length;
    const before = calls();
    // Starting, three of the node's conditions, Pulling, Failed twice, and for the second look BackOff and Failed.
    expect(before).toBe(9);
    // Its own status coming back from the API is no reason to look again.
    await clock.advance(5_000);
    expect(calls()).toBe(before);
    await clock.advance(10_000);
    expect(calls()).toBeGreaterThan(before);
  });

  it('runs a pod to its end when it is not to be restarted', async () => {
    const { api, clock } = await start();
    const init = [{ name: 'setup', image: 'busybox' }];
    api.put(
      'pods',
      podOf('once', { restartPolicy: 'Never', initContainers: init }, { 'simulated.sagong.dev/run-for.app': '5s' }),
    );
    await settle();
    expect(api.get<Pod>('pods', 'default', 'once')?.status?.phase).toBe('Running');
    await clock.advance(6_000);
    const status = api.get<Pod>('pods', 'default', 'once')?.status;
    expect(status).toMatchObject({ phase: 'Succeeded', podIP: '10.1.0.2' });
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason: 'PodCompleted' });
  });

  it('refuses what does not fit', async () => {
    const { api } = await start();
    api.put('pods', podOf('big', { containers: [{ name: 'app', image: 'x', resources: { requests: { cpu: '100' } } }] }));
    await settle();
    expect(api.get<Pod>('pods', 'default', 'big')?.status).toMatchObject({
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 8000",
    });
  });

  it('does not count a pod that is gone from the API, also while its containers end', async () => {
    const { api } = await start();
    const large = { containers: [{ name: 'app', image: 'x', resources: { requests: { cpu: '6' } } }] };
    api.put('pods', podOf('first', large));
    await settle();
    const pods = createClient(api).resource<Pod>({ group: '', version: 'v1', resource: 'pods' }, 'default');
    const gone = pods.delete('first', { gracePeriodSeconds: 0 });
    queueMicrotask(() => queueMicrotask(() => api.put('pods', podOf('second', large))));
    await gone;
    await settle();
    expect(api.get<Pod>('pods', 'default', 'second')?.status?.phase).toBe('Running');
  });

  it('ends a pod at its deadline', async () => {
    const { api, clock } = await start();
    api.put('pods', podOf('late', { activeDeadlineSeconds: 5 }));
    await clock.advance(6_000);
    expect(api.get<Pod>('pods', 'default', 'late')?.status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
  });
});

describe('what pods of a simulated node use', () => {
  const prefix = 'simulated.sagong.dev/';
  const containers = [
    { name: 'app', image: 'a' },
    { name: 'side', image: 'b', resources: { limits: { cpu: '100m' } } },
  ];

  it('is said by their annotations, adds up over time, and changes while they run', async () => {
    const { api, clock, kubelet } = await start();
    const load = { [`${prefix}cpu`]: '500m', [`${prefix}memory.app`]: '1Gi', [`${prefix}memory.side`]: 'nonsense' };
    api.put('pods', podOf('web', { containers }, load));
    await settle();
    await clock.advance(10_000);
    const [pod] = (await statsSummary(kubelet)).pods;
    expect(pod?.podRef).toEqual({ name: 'web', namespace: 'default', uid: 'uid-web' });
    // The limit of the second container holds; what cannot be read counts as absent.
    expect(pod?.containers.map(({ name, cpu, memory }) => [name, cpu?.usageNanoCores, memory?.workingSetBytes])).toEqual([
      ['side', 100e6, 16 * 2 ** 20],
      ['app', 500e6, 2 ** 30],
    ]);
    expect(pod?.cpu).toMatchObject({ usageNanoCores: 600e6, usageCoreNanoSeconds: 6e9 });
    api.put('pods', podOf('web', { containers }, { ...load, [`${prefix}cpu`]: '1' }));
    await settle();
    await statsSummary(kubelet);
    await clock.advance(10_000);
    const { node } = await statsSummary(kubelet);
    expect(node.cpu).toMatchObject({ usageNanoCores: 1_100e6, usageCoreNanoSeconds: 6e9 + 11e9 });
  });

  it('is told in the types that scrapers expect, and never goes back when pods go', async () => {
    const { api, clock, kubelet } = await start();
    api.put('pods', podOf('web', {}, { [`${prefix}cpu`]: '2' }));
    await settle();
    await clock.advance(10_000);
    const text = await resourceMetrics(kubelet);
    expect(text).toContain('# TYPE container_cpu_usage_seconds_total counter');
    expect(text).toContain('# TYPE container_memory_working_set_bytes gauge');
    expect(text).toContain('container_cpu_usage_seconds_total{container="app",namespace="default",pod="web"} 20');
    expect(text).toMatch(/^node_cpu_usage_seconds_total 20$/m);
    const pod = api.get<Pod>('pods', 'default', 'web') as Pod;
    const deletionTimestamp = new Date(clock.now()).toISOString();
    api.put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 1 } });
    await clock.advance(60_000);
    expect((await statsSummary(kubelet)).pods).toEqual([]);
    expect(await resourceMetrics(kubelet)).toMatch(/^node_cpu_usage_seconds_total [2-9]\d$/m);
  });
});

describe('pods that are meant to end', () => {
  it('end, whoever made them; those that are always restarted run on', async () => {
    const { api, clock } = await start();
    api.put('pods', podOf('hook', { restartPolicy: 'Never' }));
    api.put('pods', podOf('again', { restartPolicy: 'OnFailure' }, { 'simulated.sagong.dev/run-for': '1h' }));
    api.put('pods', podOf('web'));
    await clock.advance(5_000);
    const phase = (name: string): string | undefined => api.get<Pod>('pods', 'default', name)?.status?.phase;
    expect([phase('hook'), phase('again'), phase('web')]).toEqual(['Succeeded', 'Running', 'Running']);
  });
});
