// A control plane in pods of kube-system, as somebody finds it who knows clusters of kubeadm: names, labels, flags and files, logs, and a kubelet that starts again
// what was killed. Many processes: SAGONG_LAYOUT_PODS=1 runs it (docs/contributing.md).
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { eventually, TestCluster } from '../cluster/harness.ts';

interface Pod {
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  spec: { nodeName: string; hostNetwork?: boolean; priorityClassName?: string; containers: { command: string[] }[] };
  status: { phase: string; containerStatuses: { restartCount: number; ready: boolean; containerID: string }[] };
}

const node = 'control-plane-1';
const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'cloud-controller-manager'];
let cluster: TestCluster;
const system = async (...selector: string[]): Promise<Pod[]> =>
  (await cluster.json<{ items: Pod[] }>('get', 'pods', '-n', 'kube-system', ...selector)).items;
const inNode = async (...words: string[]): Promise<string> =>
  (await cluster.run(['node', 'shell'], [node, '--', ...words])).stdout;
const isReady = ({ status }: Pod): boolean => status.containerStatuses?.every(({ ready }) => ready) ?? false;

describe.skipIf(!process.env['SAGONG_LAYOUT_PODS'])('a control plane in pods', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up('--layout', 'pods', '--nodes', '1');
  }, 300_000);
  afterAll(async () => {
    await cluster?.destroy();
  }, 120_000);

  it('is there under the names and labels that kubeadm gives', async () => {
    await eventually(
      'all pods are ready',
      async () => {
        const all = await system();
        return all.length === programs.length + 4 && all.every(isReady);
      },
      240_000,
    );
    const pods = await system('-l', 'tier=control-plane');
    expect(pods.map(({ metadata }) => metadata.name).sort()).toEqual(programs.map((name) => `${name}-${node}`).sort());
    for (const { metadata, spec } of pods) {
      expect(`${metadata.labels['component']}-${node}`).toBe(metadata.name);
      expect(spec).toMatchObject({ nodeName: node, hostNetwork: true, priorityClassName: 'system-node-critical' });
    }
    const [apiserver] = await system('-l', 'component=kube-apiserver');
    expect(apiserver?.spec.containers[0]?.command).toContain('--etcd-cafile=/etc/kubernetes/pki/etcd/ca.crt');
    const endpoint = 'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint';
    expect(apiserver?.metadata.annotations?.[endpoint]).toBe('10.77.0.5:6443');
    expect((await system('-l', 'k8s-app=kube-proxy')).map(({ spec }) => spec.nodeName).sort()).toEqual([node, 'node-1']);
    expect((await system('-l', 'k8s-app=kube-dns')).every(({ metadata }) => metadata.name.startsWith('coredns-'))).toBe(true);
    const taints = await cluster.kubectl('get', 'node', node, '-o', 'jsonpath={.spec.taints[*].key}');
    expect(taints).toBe('node-role.kubernetes.io/control-plane');
    expect(await cluster.kubectl('get', 'nodes', '--no-headers')).toMatch(new RegExp(`^${node} +Ready +control-plane `, 'm'));
  });

  it('keeps files where kubeadm does, and ConfigMaps that its tools read', async () => {
    const manifest = parse(await inNode('cat', '/etc/kubernetes/manifests/kube-scheduler.yaml')) as Pod;
    expect(manifest.metadata).toMatchObject({ name: 'kube-scheduler', labels: { component: 'kube-scheduler' } });
    const health = ['--cacert', 'ca.crt', '--cert', 'server.crt', '--key', 'server.key'].map((word) =>
      word.startsWith('-') ? word : `/etc/kubernetes/pki/etcd/${word}`,
    );
    const words = [
      '-n',
      'kube-system',
      `etcd-${node}`,
      '--',
      'etcdctl',
      ...health,
      'get',
      '--prefix',
      '/registry/namespaces',
      '--keys-only',
    ];
    expect(await cluster.kubectl('exec', ...words)).toContain('/registry/namespaces/kube-system');
    const config = await cluster.kubectl(
      'get',
      'cm',
      '-n',
      'kube-system',
      'kubeadm-config',
      '-o',
      'jsonpath={.data.ClusterConfiguration}',
    );
    expect(parse(config)).toMatchObject({ kind: 'ClusterConfiguration', networking: { podSubnet: '10.244.0.0/16' } });
    for (const name of ['kubelet-config', 'kube-proxy', 'coredns']) await cluster.kubectl('get', 'cm', '-n', 'kube-system', name);
    await cluster.kubectl('get', 'cm', '-n', 'kube-public', 'cluster-info');
  });

  it('speaks in kubectl logs', async () => {
    const logs = (): Promise<string> => cluster.kubectl('logs', '-n', 'kube-system', `kube-scheduler-${node}`);
    await eventually('it leads', async () => (await logs()).includes('successfully acquired lease'), 120_000);
  });

  it.each(programs)('has its kubelet start %s again when its process is killed', async (program) => {
    const container = async () => (await system('-l', `component=${program}`))[0]?.status.containerStatuses[0];
    const before = await container();
    const process = program === 'etcd' ? '^etcd --' : `^/usr/bin/node /usr/local/bin/${program}`;
    expect(await inNode('sh', '-c', `kill -9 $(pgrep -f '${process}') && echo killed`)).toBe('killed\n');
    await eventually(
      'another one runs',
      async () => {
        // There may be nobody to ask for a moment.
        const now = await container().catch(() => undefined);
        return now && now.ready && now.restartCount > (before?.restartCount ?? 0) && now.containerID !== before?.containerID;
      },
      180_000,
    );
  });

  it('comes back from a snapshot of its etcd', async () => {
    const file = join(cluster.home, 'etcd.db');
    expect((await cluster.run(['snapshot', 'save'], [file])).stdout).toContain(`from ${node}: `);
    await cluster.kubectl('create', 'configmap', 'later');
    expect((await cluster.sagong('stop')).code).toBe(0);
    expect((await cluster.run(['snapshot', 'restore'], [file])).stdout).toContain(`as the etcd of ${node}\n`);
    await cluster.up();
    expect((await cluster.tryKubectl('get', 'configmap', 'later')).stderr).toContain('NotFound');
    await eventually('all pods are ready', async () => (await system()).every(isReady), 240_000);
  });

  it('gives pods of other nodes names and Services through its add-ons', async () => {
    await cluster.loadBusybox('sagong.local/layout:1');
    const words = ['--image', 'sagong.local/layout:1', '--restart', 'Never', '--rm', '-i', '--quiet', '--command', '--'];
    const look = ['nslookup', 'kubernetes.default.svc.cluster.local'];
    const found = await eventually('a name is found', async () => cluster.kubectl('run', 'asks', ...words, ...look), 120_000);
    expect(found).toContain('10.96.0.1');
  });
});
