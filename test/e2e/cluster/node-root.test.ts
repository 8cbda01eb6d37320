// Each node has a root of its own: what pods see of "the host" is their node's, with logs, static pods and mounts where the agents of other people look.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildBusyboxImage } from '#cluster/images';
import { eventually, type Output, run, TestCluster } from './harness.ts';

const image = 'sagong.local/root:1';
const mark = `sagong-root-test-${process.pid}`;
let cluster: TestCluster;
const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(...args);
const shell = (node: string, script: string): Promise<Output> => cluster.sagong('node', 'shell', node, '--', 'sh', '-c', script);
const machineMounts = async (): Promise<string[]> =>
  (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
let before: { etc: string[]; log: string[] };
const machine = async () => ({ etc: (await readdir('/etc')).sort(), log: (await readdir('/var/log')).sort() });

const below = (): string => join(cluster.home, 'shared folder/file system');

beforeAll(async () => {
  before = await machine();
  cluster = await TestCluster.create();
  const shared = join(cluster.home, 'shared folder');
  await mkdir(shared);
  await writeFile(join(shared, 'from'), 'the machine');
  // Another file system below it, as a disk of the machine would be.
  await mkdir(below());
  expect((await run('mount', ['-t', 'tmpfs', 'none', below()])).code).toBe(0);
  const mounts = [
    { hostPath: shared, containerPath: '/shared' },
    { hostPath: shared, containerPath: '/var/log/read', readOnly: true },
    { hostPath: join(shared, 'from'), containerPath: '/etc/given/file' },
    { hostPath: join(shared, 'from'), containerPath: '/var/run/read', readOnly: true },
  ];
  const config = { kind: 'Cluster', apiVersion: 'kind.x-k8s.io/v1alpha4' };
  const nodes = [{ role: 'control-plane' }, { role: 'worker', extraMounts: mounts }, { role: 'worker' }];
  await writeFile(join(cluster.home, 'config.yaml'), JSON.stringify({ ...config, nodes }));
  await cluster.up('--config', join(cluster.home, 'config.yaml'));
  await cluster.loadBusybox(image);
});
afterAll(async () => {
  await run('umount', [below()]);
  await cluster?.destroy();
});

const pod = (
  name: string,
  node: string,
  command: string,
  more: { volumes?: string; mounts?: string; privileged?: boolean } = {},
) => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  nodeName: ${node}
  terminationGracePeriodSeconds: 0
  containers:
    - name: app
      image: ${image}
      imagePullPolicy: Never
      securityContext: { privileged: ${more.privileged ?? false} }
      command: [sh, -c, ${JSON.stringify(command)}]
      volumeMounts: [${more.mounts ?? ''}]
  volumes: [${more.volumes ?? ''}]
`;
/** Resolves when the kubelet of the node answers for the pod of its name. */
const answers = (node: string): Promise<unknown> =>
  eventually('its kubelet answers', async () => (await cluster.tryKubectl('exec', node, '--', 'true')).code === 0, 90_000);
const ready = (...names: string[]): Promise<string> =>
  kubectl('wait', ...names.map((name) => `pod/${name}`), '--for', 'condition=Ready', '--timeout', '90s');

it('shows a pod the files of its node, and of no other, and never writes to the machine', async () => {
  const mounts = { volumes: '{ name: host, hostPath: { path: / } }', mounts: '{ name: host, mountPath: /host }' };
  for (const node of ['node-1', 'node-2'])
    await cluster.apply(
      pod(node, node, `for at in etc tmp dev; do echo ${node} > /host/$at/${mark}; done; exec sleep 100000`, mounts),
    );
  await ready('node-1', 'node-2');
  for (const node of ['node-1', 'node-2']) {
    const files = [`/host/etc/${mark}`, `/host/tmp/${mark}`, `/host/dev/${mark}`, '/host/etc/hostname'];
    expect(await kubectl('exec', node, '--', 'cat', ...files)).toBe(`${node}\n`.repeat(4));
    expect((await shell(node, `cat /etc/${mark}`)).stdout).toBe(`${node}\n`);
  }
  const seen = (folder: string): Promise<string> => kubectl('exec', 'node-1', '--', 'ls', join('/host', cluster.dataDir, folder));
  expect([await seen(''), await seen('nodes'), await seen('cloud')]).toEqual(['cloud\nnodes\n', 'node-1\n', 'machines\n']);
  expect(['etc', 'tmp', 'dev'].filter((folder) => existsSync(join('/', folder, mark)))).toEqual([]);
  expect(await machine()).toEqual(before);
});

it('has the devices of the machine, with terminals of its own', async () => {
  const [here, there] = [await readdir('/dev'), (await shell('node-1', 'ls /dev')).stdout.split('\n')];
  expect(here.filter((name) => !name.startsWith('tty') && !there.includes(name))).toEqual([]);
  expect((await shell('node-1', 'echo all >/dev/null && head -c 4 /dev/zero | wc -c && ls /dev/pts')).stdout).toBe('4\nptmx\n');
  expect((await shell('node-1', 'script -qec "ls /dev/pts" /dev/null')).stdout.split(/\s+/).filter(Boolean)).toEqual([
    '0',
    'ptmx',
  ]);
});

it('leads nobody out of its disk by links that a pod has put there', async () => {
  const victim = join(cluster.home, 'victim');
  await writeFile(victim, 'kept');
  const onDisk = join(cluster.dataDir, 'nodes/node-1');
  const planted = [join(onDisk, 'logs/program.log'), join(cluster.dataDir, 'cloud/machines/pause')];
  for (const path of planted) await kubectl('exec', 'node-1', '--', 'ln', '-sf', victim, join('/host', path));
  // A place that is there on the machine and in the node: what is done to it in the node must not be done to the machine's.
  const twice = join(cluster.home, 'twice');
  await mkdir(join(twice, 'certs.d'), { recursive: true });
  const notThere = join(cluster.home, 'created');
  const script = [
    `cd '/host${onDisk}' && rm -f changes/made logs/init.log && ln -s '${notThere}' changes/made && mkfifo logs/init.log`,
    `mkdir -p '/host${twice}/certs.d' && rm -rf /host/etc/containerd && ln -s '${twice}' /host/etc/containerd`,
  ];
  await kubectl('exec', 'node-1', '--', 'sh', '-c', script.join(' && '));
  expect((await cluster.sagong('node', 'reboot', 'node-1')).code).toBe(0);
  expect(await readFile(victim, 'utf8')).toBe('kept');
  expect([existsSync(notThere), await readdir(twice)]).toEqual([false, ['certs.d']]);
  expect((await shell('node-1', `cat /etc/${mark}`)).stdout).toBe('node-1\n');
});

it('does not boot where such a link stands in an overlay and would lead a mount elsewhere, and says so', async () => {
  await answers('node-1');
  const elsewhere = join(cluster.home, 'elsewhere');
  await mkdir(elsewhere);
  await shell('node-1', `umount /etc/given/file; rm -rf /etc/given && ln -s '${elsewhere}' /etc/given`);
  expect((await cluster.sagong('node', 'reboot', 'node-1')).stderr).toContain('a link leads out of the disk, to ');
  expect(await readdir(elsewhere)).toEqual([]);
  await rm(join(cluster.dataDir, 'nodes/node-1/changes/etc/upper/given'));
  const started = await cluster.sagong('node', 'start', 'node-1');
  expect(started.code, started.stderr).toBe(0);
  expect((await shell('node-1', 'cat /etc/given/file')).stdout).toBe('the machine');
});

it('gives an image to nobody who is named by a link in the place of its containerd', async () => {
  await answers('node-1');
  const socket = (node: string): string => join(cluster.dataDir, 'nodes', node, 'containerd/containerd.sock');
  const images = async (node: string): Promise<string> =>
    (await shell(node, `ctr -a '${socket(node)}' -n k8s.io images ls -q`)).stdout;
  await shell(
    'node-1',
    `mv '${socket('node-1')}' '${socket('node-1')}.own' && ln -s '${socket('node-2')}' '${socket('node-1')}'`,
  );
  const path = join(cluster.home, 'other.tar');
  await writeFile(path, await buildBusyboxImage({ busyboxPath: '/bin/busybox', reference: 'sagong.local/other:1' }));
  const told = await cluster.sagong('load-image', path);
  expect(told.stdout).toContain('not on node-1: stopped');
  await shell('node-1', `mv '${socket('node-1')}.own' '${socket('node-1')}'`);
  expect([await images('node-1'), await images('node-2')].map((text) => text.includes('sagong.local/other:1'))).toEqual([
    false,
    true,
  ]);
});

it('shows a folder of the machine to the node that was given it, for writing where that was asked for', async () => {
  const mounts = { volumes: '{ name: given, hostPath: { path: /shared } }', mounts: '{ name: given, mountPath: /given }' };
  await cluster.apply(pod('given', 'node-1', 'cp /given/from /given/back; exec sleep 100000', mounts));
  await ready('given');
  expect(await readFile(join(cluster.home, 'shared folder/back'), 'utf8')).toBe('the machine');
  expect((await shell('node-1', 'cat /var/log/read/back; touch /var/log/read/x')).stderr).toContain('Read-only file system');
  const file = (folder: string): string => `'${folder}/file system/x'`;
  expect((await shell('node-1', `touch ${file('/shared')} && touch ${file('/var/log/read')}`)).stderr).toContain('Read-only');
  expect((await shell('node-2', 'ls -d /shared /var/log/read')).stdout).toBe('');
  expect((await cluster.sagong('node', 'reboot', 'node-1')).code).toBe(0);
  expect((await shell('node-1', 'cat /shared/from')).stdout).toBe('the machine');
  expect((await shell('node-1', 'cat /etc/given/file /run/read && echo now >/run/read')).stderr).toContain('Read-only');
  expect((await shell('node-1', 'echo now >/etc/given/file && cat /run/read')).stdout).toBe('now\n');
  expect(await readFile(join(cluster.home, 'shared folder/from'), 'utf8')).toBe('now\n');
});

it('has the logs of pods where log agents look, and a DaemonSet collects them', async () => {
  await cluster.apply(`
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, namespace: kube-system }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: agent
          image: ${image}
          command: [sh, -c, 'exec sleep 100000']
          volumeMounts: [{ name: logs, mountPath: /var/log, readOnly: true }]
      volumes: [{ name: logs, hostPath: { path: /var/log } }]
`);
  for (const node of ['node-1', 'node-2'])
    await cluster.apply(pod(`talker-${node}`, node, `echo "words of ${node}"; exec sleep 100000`));
  await ready('talker-node-1', 'talker-node-2');
  await kubectl('rollout', 'status', 'daemonset/agent', '-n', 'kube-system', '--timeout', '90s');
  const agents = await cluster.json<{ items: { metadata: { name: string }; spec: { nodeName: string } }[] }>(
    'get',
    'pods',
    '-n',
    'kube-system',
    '-l',
    'app=agent',
  );
  expect(agents.items).toHaveLength(2);
  for (const { metadata, spec } of agents.items) {
    const inAgent = (script: string): Promise<string> =>
      kubectl('exec', '-n', 'kube-system', metadata.name, '--', 'sh', '-c', script);
    const text = await inAgent('cat /var/log/containers/talker-*_default_app-*.log');
    expect(text).toMatch(new RegExp(`^\\S+ stdout F words of ${spec.nodeName}\\n$`));
    const uid = await kubectl('get', 'pod', `talker-${spec.nodeName}`, '-o', 'jsonpath={.metadata.uid}');
    expect(await inAgent('readlink /var/log/containers/talker-*')).toBe(
      `/var/log/pods/default_talker-${spec.nodeName}_${uid}/app/0.log\n`,
    );
  }
  await kubectl('delete', 'pod', 'talker-node-1', 'talker-node-2');
  for (const node of ['node-1', 'node-2'])
    await eventually(
      'no link without a log',
      async () => !(await shell(node, 'ls /var/log/containers /var/log/pods')).stdout.includes('talker'),
    );
});

it('runs static pods of the folder that kubeadm knows', async () => {
  const manifest = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'fixed', namespace: 'kube-system' },
    spec: { containers: [{ name: 'app', image, imagePullPolicy: 'Never', command: ['sleep', '100000'] }] },
  });
  await shell('node-1', `printf '%s' '${manifest}' > /etc/kubernetes/manifests/fixed.json`);
  await eventually(
    'the mirror runs',
    async () =>
      (await kubectl('get', 'pod', '-n', 'kube-system', 'fixed-node-1', '-o', 'jsonpath={.status.phase}')) === 'Running',
  );
  await shell('node-1', 'rm /etc/kubernetes/manifests/fixed.json');
  await eventually(
    'no mirror',
    async () => (await cluster.tryKubectl('get', 'pod', '-n', 'kube-system', 'fixed-node-1')).code !== 0,
  );
});

it('shares mounts in both directions between the pods of a node, and with nobody else', async () => {
  const volumes = '{ name: shared, hostPath: { path: /srv/shared, type: DirectoryOrCreate } }';
  const source = 'mkdir -p /shared/disk; mount -t tmpfs disk /shared/disk; echo inside > /shared/disk/file; exec sleep 100000';
  await cluster.apply(
    pod('source', 'node-1', source, {
      volumes,
      mounts: '{ name: shared, mountPath: /shared, mountPropagation: Bidirectional }',
      privileged: true,
    }),
  );
  await ready('source');
  const mounts = '{ name: shared, mountPath: /shared, mountPropagation: HostToContainer }';
  const part = '{ name: shared, mountPath: /part, subPath: disk }';
  await cluster.apply(pod('viewer', 'node-1', 'exec sleep 100000', { volumes, mounts: `${mounts}, ${part}` }));
  await ready('viewer');
  expect(await kubectl('exec', 'viewer', '--', 'cat', '/shared/disk/file', '/part/file')).toBe('inside\ninside\n');
  expect((await shell('node-1', 'cat /srv/shared/disk/file')).stdout).toBe('inside\n');
  expect((await shell('node-2', 'ls /srv')).stdout).toBe('');
  expect((await machineMounts()).filter((path) => path.includes('shared/disk'))).toEqual([]);
});

it('is the only one that does not start when a pod has broken its configuration', async () => {
  const config = join(cluster.dataDir, 'nodes/node-2/agent.json');
  const before = await readFile(config, 'utf8');
  await kubectl('exec', 'node-2', '--', 'sh', '-c', `rm /host${config} && mkfifo /host${config}`);
  expect((await cluster.sagong('stop')).code).toBe(0);
  const told = await cluster.sagong('up', '--detach');
  expect(told.code, told.stderr).toBe(0);
  expect(told.stdout).toContain('the cluster runs without a node: the kubelet of node-2 does not answer');
  expect(await kubectl('get', 'node', 'node-1', '--no-headers')).toContain(' Ready ');
  await rm(config);
  await writeFile(config, before);
  expect((await cluster.sagong('node', 'reboot', 'node-2')).code).toBe(0);
  await kubectl('wait', 'node/node-2', '--for', 'condition=Ready', '--timeout', '90s');
}, 240_000);

it('keeps its files over a reboot, and leaves nothing on the machine', async () => {
  await cluster.sagong('node', 'reboot', 'node-1');
  await eventually('the file is there', async () =>
    (await shell('node-1', `cat /etc/${mark}; ls /run/containerd`)).stdout.startsWith('node-1\n'),
  );
  await eventually(
    'the node is ready',
    async () => (await kubectl('get', 'node', 'node-1', '--no-headers')).includes(' Ready '),
    90_000,
  );
  const { dataDir, home } = cluster;
  expect((await cluster.sagong('down')).code).toBe(0);
  expect((await run('umount', [below()])).code).toBe(0);
  expect((await machineMounts()).filter((path) => path.startsWith(home))).toEqual([]);
  expect([existsSync(dataDir), await machine()]).toEqual([false, before]);
});
