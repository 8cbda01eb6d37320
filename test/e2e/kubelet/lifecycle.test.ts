// A pod's life with a real containerd: probes of every kind, hooks, restart policies, deadlines, and the order in which containers stop.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '#client';
import { missingForContainers } from './private-containerd.ts';
import { NodeWorld, shell, sleeper } from './node-world.ts';

const missing = missingForContainers();

/** A health service whose answers are the test's; resolves with its port. */
async function healthServer(answer: () => number): Promise<{ port: number; close(): void }> {
  const server = new Server();
  const definition = {
    Check: {
      path: '/grpc.health.v1.Health/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: Buffer) => value,
      requestDeserialize: (value: Buffer) => value,
      responseSerialize: (value: number) => Buffer.from([0x08, value]),
      responseDeserialize: (value: Buffer) => value[1] ?? 0,
    },
  };
  server.addService(definition, { Check: (_: unknown, done: (error: null, value: number) => void) => done(null, answer()) });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { port, close: () => server.forceShutdown() };
}

describe.skipIf(missing !== undefined)(`pod lifecycle${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let world: NodeWorld;
  beforeAll(async () => {
    world = await NodeWorld.start('10.214.0.0/24');
  }, 60_000);
  afterAll(() => world?.stop(), 60_000);

  it('asks a gRPC health service, on the node network', async () => {
    let answer = 2;
    const health = await healthServer(() => answer);
    const probe = { grpc: { port: health.port, service: 'x' }, periodSeconds: 1, failureThreshold: 1, successThreshold: 1 };
    world.put('grpc', { hostNetwork: true, hostPID: true, containers: [sleeper({ readinessProbe: probe })] });
    await world.event('grpc', 'Unhealthy: Readiness probe failed: service unhealthy (responded with "NOT_SERVING")');
    answer = 1;
    await world.ready('grpc');
    expect(world.pod('grpc')?.status).toMatchObject({ podIP: '127.0.0.1', hostIP: '127.0.0.1' });
    expect(await world.run('grpc', 'tr "\\0" " " < /proc/1/cmdline')).not.toContain('sleep');
    health.close();
    await world.status('grpc', 'is not ready', ({ conditions }) =>
      conditions?.some(({ type, status }) => type === 'Ready' && status === 'False'),
    );
    await world.event(
      'grpc',
      /^Unhealthy: Readiness probe failed: timeout: failed to connect service "127\.0\.0\.1:\d+" within 1s/,
    );
    await world.end('grpc');
  });

  it('holds the other probes back until the startup probe has passed', async () => {
    const nothing = { exec: { command: ['cat', '/alive'] }, periodSeconds: 1, failureThreshold: 1 };
    const startupProbe = { exec: { command: ['cat', '/started'] }, periodSeconds: 1, failureThreshold: 600 };
    world.put('slow', { containers: [sleeper({ startupProbe, livenessProbe: nothing })] });
    await world.event('slow', /^Unhealthy: Startup probe failed: cat: can't open '\/started': No such file or directory/);
    expect(world.pod('slow')?.status?.containerStatuses?.[0]).toMatchObject({ started: false, ready: false });
    await world.run('slow', 'touch /alive /started');
    await world.ready('slow');
    expect(world.pod('slow')?.status?.containerStatuses?.[0]).toMatchObject({ started: true, restartCount: 0 });
    expect(world.events('slow').filter((text) => text.includes('Liveness'))).toEqual([]);
    await world.end('slow');

    const failing = { ...startupProbe, failureThreshold: 1 };
    world.put('never', { containers: [sleeper({ startupProbe: failing })] });
    await world.event('never', 'Killing: Container app failed startup probe, will be restarted');
    await world.end('never');
  });

  it('probes readiness to the last', async () => {
    const script = 'touch /ready; trap "rm /ready; sleep 30 & wait" TERM; while :; do sleep 0.1; done';
    const readinessProbe = { exec: { command: ['test', '-e', '/ready'] }, periodSeconds: 1, failureThreshold: 1 };
    world.put('leaving', { containers: [shell(script, { readinessProbe })], terminationGracePeriodSeconds: 60 });
    await world.ready('leaving');
    const ended = world.end('leaving');
    await world.status(
      'leaving',
      'is not ready while it ends',
      ({ containerStatuses }) => containerStatuses?.[0]?.state?.running && !containerStatuses[0].ready,
    );
    const { resource, client } = { resource: { group: '', version: 'v1', resource: 'pods' }, client: createClient(world.api) };
    await client.resource(resource, 'default').delete('leaving', { gracePeriodSeconds: 1 });
    await ended;
  });

  it('runs hooks after start and before stop', async () => {
    world.put('server', {
      containers: [
        shell('mkdir -p /www; echo ok > /www/hook; exec httpd -v -f -p 8080 -h /www', {
          readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
        }),
      ],
    });
    await world.ready('server');
    const host = world.pod('server')?.status?.podIP;
    const path = join(world.containerd.directory, 'hooks');
    world.put('hooked', {
      terminationGracePeriodSeconds: 20,
      volumes: [{ name: 'out', hostPath: { path, type: 'DirectoryOrCreate' } }],
      containers: [
        shell("trap 'echo TERM >> /out/log; exit 0' TERM; while true; do sleep 0.1; done", {
          volumeMounts: [{ name: 'out', mountPath: '/out' }],
          lifecycle: {
            postStart: { exec: { command: ['sh', '-c', 'echo started >> /out/log'] } },
            preStop: { exec: { command: ['sh', '-c', 'sleep 1; echo stopping >> /out/log'] } },
          },
        }),
        sleeper({
          name: 'web',
          lifecycle: { postStart: { httpGet: { host, port: 8080, path: '/hook' } }, preStop: { sleep: { seconds: 1 } } },
        }),
      ],
    });
    await world.ready('hooked');
    expect(await readFile(join(path, 'log'), 'utf8')).toBe('started\n');
    await world.end('hooked');
    expect(await readFile(join(path, 'log'), 'utf8')).toBe('started\nstopping\nTERM\n');
    expect(world.events('hooked').filter((text) => text.includes('Hook'))).toEqual([]);
    await world.end('server');
  });

  it('says when a hook fails', async () => {
    const wrong = { exec: { command: ['sh', '-c', 'echo no; exit 3'] } };
    world.put('poststart', { containers: [sleeper({ lifecycle: { postStart: wrong } })] });
    await world.event('poststart', 'FailedPostStartHook: PostStartHook failed');
    await world.event('poststart', 'Killing: FailedPostStartHook');
    await world.status('poststart', 'says why', ({ containerStatuses }) =>
      ['PostStartHookError', 'CrashLoopBackOff'].includes(containerStatuses?.[0]?.state?.waiting?.reason ?? ''),
    );
    await world.end('poststart');
    world.put('prestop', { containers: [sleeper({ lifecycle: { preStop: wrong } })] });
    await world.ready('prestop');
    await world.end('prestop');
    await world.event('prestop', 'FailedPreStopHook: PreStopHook failed');
    // Running out of time is no failure of the hook.
    world.put('long', { containers: [sleeper({ lifecycle: { preStop: { sleep: { seconds: 30 } } } })] });
    await world.ready('long');
    await world.end('long');
    await world.event('long', 'Killing: Stopping container app');
    expect(world.events('long').filter((text) => text.includes('Hook'))).toEqual([]);
  });

  it('stops sidecars after the containers they serve, the last one first', async () => {
    const path = join(world.containerd.directory, 'order');
    const volumeMounts = [{ name: 'out', mountPath: '/out' }];
    const stopping = (name: string, extra: object = {}) =>
      shell(`trap 'sleep 0.3; echo ${name} >> /out/log; exit 0' TERM; while true; do sleep 0.05; done`, {
        name,
        volumeMounts,
        ...extra,
      });
    world.put('order', {
      terminationGracePeriodSeconds: 20,
      volumes: [{ name: 'out', hostPath: { path, type: 'DirectoryOrCreate' } }],
      initContainers: [stopping('side1', { restartPolicy: 'Always' }), stopping('side2', { restartPolicy: 'Always' })],
      containers: [stopping('app')],
    });
    await world.ready('order');
    await world.end('order');
    expect(await readFile(join(path, 'log'), 'utf8')).toBe('app\nside2\nside1\n');
  });

  it('restarts as the policy says', async () => {
    const once = (code: number) => shell(`exit ${code}`);
    world.put('onfailure', {
      restartPolicy: 'OnFailure',
      containers: [
        shell('test -f /data/x && exit 0; touch /data/x; exit 1', { volumeMounts: [{ name: 'd', mountPath: '/data' }] }),
      ],
      volumes: [{ name: 'd', emptyDir: {} }],
    });
    await world.status('onfailure', 'succeeds', ({ phase }) => phase === 'Succeeded');
    expect(world.pod('onfailure')?.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      state: { terminated: { exitCode: 0, reason: 'Completed' } },
    });
    world.put('never2', { restartPolicy: 'Never', containers: [once(5)] });
    await world.status('never2', 'fails', ({ phase }) => phase === 'Failed');
    expect(world.pod('never2')?.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 0,
      state: { terminated: { exitCode: 5, reason: 'Error' } },
    });
    const restartPolicyRules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }];
    world.put('rules', {
      restartPolicy: 'Never',
      volumes: [{ name: 'd', emptyDir: {} }],
      containers: [
        shell('test -f /data/x && exit 7; touch /data/x; exit 42', {
          restartPolicy: 'Never',
          restartPolicyRules,
          volumeMounts: [{ name: 'd', mountPath: '/data' }],
        }),
      ],
    });
    await world.status('rules', 'fails', ({ phase }) => phase === 'Failed');
    expect(world.pod('rules')?.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      state: { terminated: { exitCode: 7 } },
    });
    for (const name of ['onfailure', 'never2', 'rules']) await world.end(name);
  });

  it('ends a pod whose time is over', async () => {
    world.put('deadline', { activeDeadlineSeconds: 2, containers: [sleeper()] });
    await world.status('deadline', 'fails', ({ phase }) => phase === 'Failed');
    const message = 'Pod was active on the node longer than the specified deadline';
    expect(world.pod('deadline')?.status).toMatchObject({ reason: 'DeadlineExceeded', message });
    await world.event('deadline', `DeadlineExceeded: ${message}`);
    await world.end('deadline');
  });

  it('tells termination messages from the file or the log, and which container ran out of memory', async () => {
    world.put('messages', {
      restartPolicy: 'Never',
      containers: [
        shell('echo bye > /dev/my-log', { name: 'file', terminationMessagePath: '/dev/my-log' }),
        shell('echo last words; exit 1', { name: 'log', terminationMessagePolicy: 'FallbackToLogsOnError' }),
        shell('tail /dev/zero', { name: 'oom', resources: { limits: { memory: '16Mi' } } }),
      ],
    });
    await world.status('messages', 'fails', ({ phase }) => phase === 'Failed');
    expect(world.pod('messages')?.status?.containerStatuses).toMatchObject([
      { name: 'file', state: { terminated: { exitCode: 0, message: 'bye\n' } } },
      { name: 'log', state: { terminated: { exitCode: 1, message: 'last words\n' } } },
      { name: 'oom', state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
    ]);
    await world.end('messages');
  });
});
