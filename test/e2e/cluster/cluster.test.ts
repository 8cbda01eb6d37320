// What a user sees of a real cluster: two nodes with containerd, the demo, and unmodified kubectl. One cluster for the whole file.
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, run, TestCluster } from './harness.ts';

interface PodList {
  items: {
    metadata: { name: string; uid: string };
    spec: { nodeName: string };
    status: { podIP: string; phase: string; containerStatuses: { restartCount: number; containerID: string; ready: boolean }[] };
  }[];
}

let cluster: TestCluster;
const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(...args);
const demoPods = async (): Promise<PodList['items']> => (await cluster.json<PodList>('get', 'pods', '-l', 'app=hello')).items;
const running = async (count: number) => {
  const pods = await demoPods();
  return (
    pods.length === count &&
    pods.every(({ status }) => status.phase === 'Running' && status.containerStatuses?.[0]?.ready) &&
    pods
  );
};

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '2', '--demo');
});
afterAll(async () => {
  await cluster?.destroy();
});

describe('a cluster of two real nodes', () => {
  it('runs the demo as containerd containers on both nodes', async () => {
    const pods = await eventually('four pods', () => running(4));
    expect(new Set(pods.map(({ spec }) => spec.nodeName))).toEqual(new Set(['node-1', 'node-2']));
    for (const { status } of pods) expect(status.containerStatuses[0]?.containerID).toMatch(/^containerd:\/\/[0-9a-f]{64}$/);
  });

  it('answers on the ClusterIP and the DNS name, from a pod on each node, with endpoints of both', async () => {
    const pods = await demoPods();
    const ip = await kubectl('get', 'service', 'hello', '-o', 'jsonpath={.spec.clusterIP}');
    for (const node of ['node-1', 'node-2']) {
      const pod = pods.find(({ spec }) => spec.nodeName === node)?.metadata.name ?? '';
      const answers = await eventually(`answers from both nodes to ${node}`, async () => {
        const text = await kubectl(
          'exec',
          pod,
          '--',
          'sh',
          '-c',
          `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do wget -qO- http://${ip}; done`,
        );
        return text.trim().split('\n').length === 12 && text.includes('node-1') && text.includes('node-2') && text;
      });
      expect(answers).not.toContain('wget');
      for (const name of ['hello', 'hello.default', 'hello.default.svc.cluster.local'])
        expect(await kubectl('exec', pod, '--', 'wget', '-qO-', `http://${name}`)).toMatch(/^hello from hello-/);
    }
  });

  it('gives pods a token that the API knows', async () => {
    const [pod] = await demoPods();
    const token = await kubectl(
      'exec',
      pod?.metadata.name ?? '',
      '--',
      'cat',
      '/var/run/secrets/kubernetes.io/serviceaccount/token',
    );
    expect(await kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}', '--token', token)).toBe(
      'kubernetes-admin',
    );
    const config = JSON.parse(await kubectl('config', 'view', '--raw', '-o', 'json')) as {
      clusters: { cluster: { server: string } }[];
    };
    const bare = await run('kubectl', [
      '--kubeconfig',
      '/dev/null',
      '--server',
      config.clusters[0]?.cluster.server ?? '',
      '--insecure-skip-tls-verify',
      '--token',
      token,
      'auth',
      'whoami',
      '-o',
      'jsonpath={.status.userInfo.username}',
    ]);
    expect(bare.stdout).toBe('system:serviceaccount:default:default');
  });

  it('restarts a container whose process was killed', async () => {
    const before = (await demoPods())[0];
    process.kill(await processOf(before?.metadata.name ?? ''), 'SIGKILL');
    await eventually('a restart', async () =>
      (await demoPods()).some(
        ({ metadata, status }) => metadata.uid === before?.metadata.uid && (status.containerStatuses[0]?.restartCount ?? 0) > 0,
      ),
    );
    await eventually('ready again', () => running(4));
  });

  it('replaces a deleted pod', async () => {
    const [gone] = await demoPods();
    await kubectl('delete', 'pod', gone?.metadata.name ?? '');
    const pods = await eventually('four pods', () => running(4));
    expect(pods.map(({ metadata }) => metadata.uid)).not.toContain(gone?.metadata.uid);
  });

  it('shows everything', async () => {
    const all = await kubectl('get', 'all', '-A');
    for (const part of ['deployment.apps/hello', 'replicaset.apps/hello-', 'pod/hello-', 'service/kubernetes', 'service/hello'])
      expect(all).toContain(part);
    expect(await kubectl('get', 'nodes', '-o', 'wide')).toMatch(/node-1 +Ready .*containerd:\/\//);
    const described = await kubectl('describe', 'pod', (await demoPods())[0]?.metadata.name ?? '');
    for (const part of ['Node:', 'Ready ', 'Container ID:', 'kube-api-access-', 'Scheduled', 'Started'])
      expect(described).toContain(part);
    expect(await kubectl('describe', 'deployment', 'hello')).toContain('4 desired | 4 updated | 4 total | 4 available');
    expect(await kubectl('describe', 'node', 'node-1')).toContain('PodCIDR');
    expect(await kubectl('api-resources')).toContain('deployments');
    expect(await kubectl('explain', 'deployment.spec.strategy')).toContain('rollingUpdate');
    expect(await kubectl('auth', 'can-i', 'create', 'pods')).toBe('yes\n');
    expect((await cluster.tryKubectl('auth', 'can-i', 'create', 'pods', '--as', 'nobody')).stdout).toBe('no\n');
    expect(await kubectl('top', 'nodes')).toContain('node-1');
  });

  it('explains what it decided', async () => {
    const name = (await demoPods())[0]?.metadata.name ?? '';
    const { stdout } = await cluster.sagong('explain', `pod/${name}`);
    for (const part of [
      `Pod default/${name}`,
      'scheduler: placed on node-',
      'ReplicaSet default/hello-',
      'Deployment default/hello',
      'deployment-controller',
    ])
      expect(stdout).toContain(part);
    expect((await cluster.sagong('explain', 'pod/nothing')).stderr).toContain('not found');
  });

  it.each(['true', 'false'])(
    'exec gives all of its output to a reader that rests while kubectl pings (over WebSocket: %s)',
    async (webSocket) => {
      const name = (await demoPods())[0]?.metadata.name ?? '';
      // The first ping comes after five seconds. So much fits between the command and its reader that the command ends before.
      const command = `kubectl exec ${name} -- head -c 12000000 /dev/zero | (sleep 7; wc -c)`;
      const env = { ...cluster.env, KUBECTL_REMOTE_COMMAND_WEBSOCKETS: webSocket };
      expect(await run('bash', ['-o', 'pipefail', '-c', command], { env })).toMatchObject({ code: 0, stdout: '12000000\n' });
    },
  );

  it('streams logs, exec, port-forward and cp', async () => {
    const name = (await demoPods())[0]?.metadata.name ?? '';
    expect(await kubectl('exec', name, '--', 'sh', '-c', 'echo out; exit 0')).toBe('out\n');
    expect((await cluster.tryKubectl('exec', name, '--', 'sh', '-c', 'exit 7')).code).toBe(7);
    expect((await cluster.kubectlWithInput('line\n', 'exec', '-i', name, '--', 'cat')).stdout).toBe('line\n');
    const terminal = await run(
      'script',
      ['-qec', `kubectl exec -it ${name} -- sh -c 'test -t 0 && echo terminal'`, '/dev/null'],
      { env: cluster.env },
    );
    expect(terminal.stdout).toContain('terminal');
    const follow = cluster.kubectlInBackground('logs', '-f', name);
    let seen = '';
    follow.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    const forward = cluster.kubectlInBackground('port-forward', `pod/${name}`, ':8080');
    try {
      const [line] = (await once(forward.stdout, 'data')) as [Buffer];
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(line.toString())?.[1]);
      expect(await httpGet(port)).toContain(`hello from ${name}`);
      await eventually('a followed log line', async () => /GET|url:|response/.test(seen));
    } finally {
      follow.kill();
      forward.kill();
    }
    const file = join(cluster.home, 'copied');
    await writeFile(file, 'x'.repeat(100_000));
    await kubectl('cp', file, `${name}:/tmp/copied`);
    await kubectl('cp', `${name}:/tmp/copied`, `${file}.back`);
    expect((await readFile(`${file}.back`, 'utf8')).length).toBe(100_000);
  });

  it('applies, diffs, edits, scales, rolls out and back', async () => {
    const configMap = (value: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {key: "${value}"}\n`;
    const apply = (value: string, ...args: string[]) => cluster.kubectlWithInput(configMap(value), 'apply', '-f', '-', ...args);
    expect((await apply('one')).stdout).toBe('configmap/settings created\n');
    expect((await apply('one')).stdout).toBe('configmap/settings unchanged\n');
    expect((await apply('two')).stdout).toBe('configmap/settings configured\n');
    const diff = await cluster.kubectlWithInput(configMap('three'), 'diff', '-f', '-');
    expect(diff.code).toBe(1);
    expect(diff.stdout).toContain('+  key: three');
    expect((await apply('four', '--server-side', '--field-manager', 'other')).stderr).toContain('conflict');
    expect((await apply('four', '--server-side', '--force-conflicts', '--field-manager', 'other')).stdout).toBe(
      'configmap/settings serverside-applied\n',
    );
    const edited = await run('kubectl', ['edit', 'configmap', 'settings'], {
      env: { ...cluster.env, KUBE_EDITOR: "sed -i 's/key: four/key: five/'" },
    });
    expect(edited.stdout).toBe('configmap/settings edited\n');
    expect(await kubectl('get', 'configmap', 'settings', '-o', 'jsonpath={.data.key}')).toBe('five');
    await kubectl('scale', 'deployment', 'hello', '--replicas', '5');
    await kubectl('wait', 'deployment/hello', '--for', 'jsonpath={.status.readyReplicas}=5', '--timeout', '60s');
    await kubectl('set', 'env', 'deployment/hello', 'COLOUR=blue');
    expect(await kubectl('rollout', 'status', 'deployment/hello', '--timeout', '90s')).toContain('successfully rolled out');
    expect(await kubectl('rollout', 'history', 'deployment/hello')).toMatch(/1 .*\n2 /);
    await kubectl('rollout', 'undo', 'deployment/hello');
    await kubectl('rollout', 'status', 'deployment/hello', '--timeout', '90s');
    expect(
      await kubectl('get', 'deployment', 'hello', '-o', 'jsonpath={.spec.template.spec.containers[0].env[*].name}'),
    ).not.toContain('COLOUR');
  });

  it('drains a node and takes it back', async () => {
    await kubectl('drain', 'node-2', '--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout', '60s');
    const pods = await eventually('all pods on node-1', async () => {
      const all = await running(5);
      return all && all.every(({ spec }) => spec.nodeName === 'node-1') && all;
    });
    expect(pods).toHaveLength(5);
    expect(await kubectl('uncordon', 'node-2')).toContain('uncordoned');
  });

  it('deletes with all that belongs to it', async () => {
    await kubectl('delete', 'deployment/hello', 'service/hello', 'configmap/settings', '--timeout', '60s');
    await eventually('no pods and replica sets', async () => (await kubectl('get', 'rs,pods', '-o', 'name')).trim() === '');
    await kubectl('create', 'namespace', 'short');
    await kubectl('create', 'configmap', 'c', '-n', 'short', '--from-literal', 'a=b');
    await kubectl('delete', 'namespace', 'short', '--timeout', '60s');
    expect((await cluster.tryKubectl('get', 'namespace', 'short')).stderr).toContain('(NotFound)');
  });
});

/** The web server's process id on this machine, by the name in its environment. */
async function processOf(pod: string): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const [command = '', environment = ''] = await Promise.all(
      ['cmdline', 'environ'].map((file) => readFile(`/proc/${entry}/${file}`, 'utf8').catch(() => '')),
    );
    if (command.startsWith('httpd') && environment.split('\0').includes(`POD_NAME=${pod}`)) return Number(entry);
  }
  throw new Error(`no process of ${pod}`);
}

/** Fetches / over a raw socket: the path under test is the tunnel, not an HTTP client. */
function httpGet(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}
