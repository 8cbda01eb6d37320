// The kubelet's server over a real containerd: logs, exec, attach and port-forward, as an apiserver asks for them.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { createClient } from '#client';
import { systemClock, systemRng } from '#host';
import { defaultOptions, type KubeletHandle, runKubelet } from '#kubelet';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import { createWireClient, dialPortForward, dialRemoteCommand, type WireClient } from '#wire';
import { FakeApi } from '../../../src/kubelet/test-support/fake-api.ts';
import { missingForContainers, type PrivateContainerd, startContainerd, until } from './private-containerd.ts';

const missing = missingForContainers();

const text = async (stream: Readable | undefined): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

describe.skipIf(missing !== undefined)(`kubelet server${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const api = new FakeApi();
  const ca = createCertificateAuthority({ commonName: 'test-ca' });
  let containerd: PrivateContainerd;
  let node: KubeletHandle;
  let client: WireClient;
  let stranger: WireClient;

  beforeAll(async () => {
    containerd = await startContainerd('10.212.0.0/24');
    const { directory, endpoint } = containerd;
    const serving = issueCertificate({ ca, commonName: 'n1', ips: ['127.0.0.1'], usages: ['server auth'] });
    const own = issueCertificate({ ca, commonName: 'apiserver', usages: ['client auth'] });
    node = await runKubelet(
      {
        ...defaultOptions('n1'),
        nodeIPs: ['127.0.0.1'],
        rootDir: `${directory}/kubelet`,
        podLogsDir: `${directory}/pod-logs`,
        systemLogsDir: `${directory}/system-logs`,
        containerRuntimeEndpoint: endpoint,
        cgroupRoot: directory.slice(directory.lastIndexOf('/') + 1),
      },
      {
        client: createClient(api),
        clock: systemClock(),
        rng: systemRng(),
        logger: silentLogger,
        serving: {
          tls: { cert: serving.cert, key: serving.key, ca: ca.cert },
          listen: { port: 0 },
          anonymous: false,
          tokenReview: true,
          authorization: 'AlwaysAllow',
        },
      },
    );
    const baseUrl = `https://127.0.0.1:${node.server?.port}`;
    client = createWireClient({ baseUrl, tls: { ca: ca.cert, cert: own.cert, key: own.key } });
    stranger = createWireClient({ baseUrl, tls: { ca: ca.cert } });
    const script = 'echo one; echo two >&2; echo three; mkdir /www; echo served > /www/index.html; exec httpd -f -p 8080 -h /www';
    api.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'default', uid: 'uid-web' },
      spec: {
        nodeName: 'n1',
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'app',
            image: 'busybox',
            imagePullPolicy: 'IfNotPresent',
            command: ['sh', '-c', script],
            readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
      status: { phase: 'Pending' },
    } as Pod);
    await until('ready', 60_000, async () =>
      Boolean(
        api
          .get<Pod>('pods', 'default', 'web')
          ?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
      ),
    );
  });
  afterAll(async () => {
    client?.close();
    stranger?.close();
    await createClient(api)
      .resource({ group: '', version: 'v1', resource: 'pods' }, 'default')
      .delete('web')
      .catch(() => {});
    await until('gone', 20_000, async () => api.get('pods', 'default', 'web') === undefined).catch(() => {});
    try {
      await node?.close();
    } finally {
      await containerd?.stop();
    }
  });

  const get = async (path: string): Promise<{ status: number; body: string }> => {
    const response = await client.request({ path });
    return { status: response.status, body: await response.text() };
  };

  it('answers only to those it knows', async () => {
    expect((await stranger.request({ path: '/pods' })).status).toBe(401);
    expect(await get('/healthz')).toEqual({ status: 200, body: 'ok' });
  });

  it('lists pods, stats and metrics', async () => {
    const pods = JSON.parse((await get('/pods')).body) as { kind: string; items: Pod[] };
    expect(pods).toMatchObject({ kind: 'PodList', items: [{ metadata: { name: 'web' }, status: { phase: 'Running' } }] });
    interface Usage {
      cpu: { usageNanoCores: number; usageCoreNanoSeconds: number };
      memory: { workingSetBytes: number };
    }
    const summary = async () =>
      JSON.parse((await get('/stats/summary')).body) as {
        node: Usage;
        pods: (Usage & { podRef: { name: string }; containers: (Usage & { name: string })[] })[];
      };
    const first = await summary();
    expect(first.pods[0]).toMatchObject({ podRef: { name: 'web' }, containers: [{ name: 'app' }] });
    const path = `/exec/default/web/app?${['sh', '-c', 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'].map((word) => `command=${encodeURIComponent(word)}`).join('&')}&output=1&error=1`;
    const busy = await dialRemoteCommand(client, {
      path,
      transport: 'websocket',
      stdin: false,
      stdout: true,
      stderr: true,
      tty: false,
    });
    busy.stdout?.resume();
    busy.stderr?.resume();
    await until('CPU use is seen', 60_000, async () => ((await summary()).pods[0]?.containers[0]?.cpu.usageNanoCores ?? 0) > 1e6);
    await busy.outcome();
    const { node: whole, pods: used } = await summary();
    expect(used[0]?.containers[0]?.memory.workingSetBytes).toBeGreaterThan(1000);
    await until('CPU of the node is seen', 60_000, async () => (await summary()).node.cpu.usageNanoCores > 0);
    expect(whole.memory.workingSetBytes).toBeGreaterThan(1e6);
    const resource = (await get('/metrics/resource')).body;
    for (const name of [
      'container_memory_working_set_bytes',
      'container_cpu_usage_seconds_total',
      'container_start_time_seconds',
    ])
      expect(resource).toMatch(new RegExp(`${name}\\{container="app",namespace="default",pod="web"\\} [\\d.]*[1-9]`));
    for (const name of ['node_cpu_usage_seconds_total', 'node_memory_working_set_bytes'])
      expect(resource).toMatch(new RegExp(`^${name} [\\d.]*[1-9]`, 'm'));
    const cadvisor = (await get('/metrics/cadvisor')).body;
    expect(cadvisor).toMatch(
      /container_memory_rss\{container="app",id="[^"]+",image="busybox",name="\w+",namespace="default",pod="web"\} \d/,
    );
    expect(cadvisor).toMatch(/^machine_cpu_cores [1-9]/m);
    for (const text of [resource, cadvisor]) expect(text).toContain('# TYPE container_cpu_usage_seconds_total counter');
    for (const [name, type] of [
      ['container_cpu_user_seconds_total', 'counter'],
      ['container_memory_cache', 'gauge'],
      ['container_network_receive_bytes_total', 'counter'],
      ['container_processes', 'gauge'],
      ['container_file_descriptors', 'gauge'],
    ])
      expect(cadvisor).toMatch(new RegExp(`# TYPE ${name} ${type}\n${name}\\{[^}]*namespace="default"[^}]*pod="web"`));
    expect(cadvisor).toMatch(/container_cpu_usage_seconds_total\{container="",id="\/",[^}]*\} [\d.]*[1-9]/);
    expect(await summary()).toMatchObject({ pods: [{ 'ephemeral-storage': { usedBytes: expect.any(Number) } }] });
    expect(cadvisor).toMatch(/container_spec_cpu_shares\{container="app",[^}]*pod="web"\} \d/);
    expect((await get('/metrics/probes')).body).toContain('# TYPE prober_probe_total counter');
  });

  it('shows the logs of the node, and nothing around them', async () => {
    const directory = node.kubelet.options.systemLogsDir;
    await mkdir(join(directory, 'sub'), { recursive: true });
    await writeFile(join(directory, 'a & b.log'), 'own words\n');
    await symlink('/etc/hostname', join(directory, 'out'));
    expect((await get('/logs/')).body).toContain(
      '<a href="a%20&amp;%20b.log">a &amp; b.log</a>\n<a href="out">out</a>\n<a href="sub/">',
    );
    expect(await get('/logs/a%20&%20b.log')).toEqual({ status: 200, body: 'own words\n' });
    expect((await client.request({ path: '/logs/sub' })).headers['location']).toBe('sub/');
    for (const path of ['out', 'nothing', '..%2f..%2fetc%2fhostname']) expect((await get(`/logs/${path}`)).status).toBe(404);
  });

  it('gives logs: all, the end, one stream, with times, cut', async () => {
    const logs = '/containerLogs/default/web/app';
    expect((await get(logs)).body.split('\n').sort()).toEqual(['', 'one', 'three', 'two']);
    expect((await get(`${logs}?stream=Stderr`)).body).toBe('two\n');
    expect((await get(`${logs}?stream=Stdout&tailLines=1&timestamps=true`)).body).toMatch(/^(\d{4}-\d\d-\d\dT\S+ three\n)?$/);
    expect((await get(`${logs}?limitBytes=2`)).body).toHaveLength(2);
    expect(await get('/containerLogs/default/web/other')).toEqual({
      status: 404,
      body: 'container "other" not found in pod "web"',
    });
    expect((await get(`${logs}?previous=true`)).body).toBe('previous terminated container "app" in pod "web" not found');
  });

  it('follows a log', async () => {
    const response = await client.request({ path: '/containerLogs/default/web/app?follow=true&tailLines=0' });
    const { url } = { url: '/exec/default/web/app?command=sh&command=-c&command=echo+late+%3E+/proc/1/fd/1&output=1&error=1' };
    const seen = new Promise<string>((resolve) => response.body.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8'))));
    response.body.on('error', () => {});
    const session = await dialRemoteCommand(client, {
      path: url,
      transport: 'websocket',
      stdin: false,
      stdout: true,
      stderr: true,
      tty: false,
    });
    session.stdout?.resume();
    session.stderr?.resume();
    expect(await session.outcome()).toMatchObject({ exitCode: 0 });
    expect(await seen).toBe('late\n');
    response.body.destroy();
  });

  for (const transport of ['websocket', 'spdy'] as const) {
    it(`runs commands over ${transport}: input, both outputs, exit code`, async () => {
      const command = ['sh', '-c', 'cat; echo err >&2; exit 3'].map((word) => `command=${encodeURIComponent(word)}`).join('&');
      const path = `/exec/default/web/app?${command}&input=1&output=1&error=1`;
      const session = await dialRemoteCommand(client, { path, transport, stdin: true, stdout: true, stderr: true, tty: false });
      session.stdin?.end('hello');
      const [out, err, outcome] = await Promise.all([text(session.stdout), text(session.stderr), session.outcome()]);
      expect({ out, err, outcome }).toMatchObject({ out: 'hello', err: 'err\n', outcome: { exitCode: 3 } });
    });

    it(`forwards a port over ${transport}`, async () => {
      const session = await dialPortForward(client, { path: '/portForward/default/web', transport });
      const { data } = session.connect(8080);
      data.write('GET / HTTP/1.0\r\n\r\n');
      expect(await text(data as unknown as Readable)).toContain('served');
      session.close();
    });
  }

  it('refuses what is not there', async () => {
    const command = dialRemoteCommand(client, {
      path: '/exec/default/web/none?command=true&output=1',
      transport: 'websocket',
      stdin: false,
      stdout: true,
      stderr: false,
      tty: false,
    });
    await expect(command).rejects.toThrow('container not found ("none")');
  });
});
