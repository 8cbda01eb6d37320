// `sagong kubelet` as a process of its own: flags, a KubeletConfiguration file and a kubeconfig, against a real apiserver.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Node, Pod } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { defaultOptions as apiServerDefaults, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient, kubeconfigFor, type KubeClient, writeKubeconfig } from '#client';
import { systemClock, systemRng } from '#host';
import { openMemoryStore } from '#store';
import { silentLogger } from '#utils';
import { createWireClient } from '#wire';
import { openPki } from '../../../src/cluster/certificates/certificates.ts';
import { freePort } from '../../support/ports.ts';
import { missingForContainers, type PrivateContainerd, startContainerd, until } from './private-containerd.ts';

const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const binary = join(root, 'bin', 'sagong.mjs');
const missing = missingForContainers() ?? (existsSync(join(root, 'dist')) ? undefined : 'not built');
const core = (resource: string) => ({ group: '', version: 'v1', resource });

const configuration = (directory: string, port: number, endpoint: string): string => `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: ${port}
authentication:
  anonymous: {enabled: false}
  x509: {clientCAFile: ${directory}/ca.crt}
authorization: {mode: Webhook}
tlsCertFile: ${directory}/serving.crt
tlsPrivateKeyFile: ${directory}/serving.key
cgroupRoot: ${directory.slice(directory.lastIndexOf('/') + 1)}
clusterDNS: [10.96.0.10]
clusterDomain: example.test
containerRuntimeEndpoint: ${endpoint}
maxPods: 50
podLogsDir: ${directory}/pod-logs
staticPodPath: ${directory}/manifests
registerWithTaints: [{key: dedicated, value: test, effect: NoSchedule}]
systemReserved: {cpu: 100m, memory: 64Mi}
nodeStatusUpdateFrequency: 1s
`;

const manifest = `apiVersion: v1
kind: Pod
metadata: {name: fixed, namespace: kube-system}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: app, image: busybox, imagePullPolicy: IfNotPresent, command: [sleep, "3600"]}
`;

describe.skipIf(missing !== undefined)(`sagong kubelet${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let containerd: PrivateContainerd;
  let apiserver: KubeApiServer;
  let admin: KubeClient;
  let kubelet: ReturnType<typeof spawn>;
  let said = '';
  let reader: { ca: string; cert: string; key: string };
  let port: number;

  beforeAll(async () => {
    containerd = await startContainerd('10.217.0.0/24');
    const { directory, endpoint } = containerd;
    const pki = await openPki(join(directory, 'pki'));
    apiserver = await runKubeApiServer(
      {
        ...apiServerDefaults(),
        bindAddress: '127.0.0.1',
        advertiseAddress: '127.0.0.1',
        serving: pki.serving('kube-apiserver', { ips: ['127.0.0.1'] }),
        clientCa: pki.authority.cert,
        serviceAccountKeys: [pki.serviceAccount.publicKey],
        serviceAccountSigningKey: pki.serviceAccount.privateKey,
        enableAdmissionPlugins: ['NodeRestriction'],
      },
      { clock: systemClock(), rng: systemRng(), logger: silentLogger, store: openMemoryStore() },
    );
    admin = createClient(apiserver.transport({ name: 'admin', groups: ['system:masters', 'system:authenticated'] }, 'test'));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } } as KubeObject;
    await admin
      .resource(core('namespaces'))
      .create(namespace)
      .catch(() => {});
    const pair = pki.client('system:node:n2', ['system:nodes']);
    const config = { server: apiserver.url, ca: pki.authority.cert, certificate: pair.cert, key: pair.key };
    await writeKubeconfig(join(directory, 'kubeconfig'), kubeconfigFor('node', config));
    const own = pki.client('reader', ['system:masters']);
    reader = { ca: pki.authority.cert, cert: own.cert, key: own.key };
    port = await freePort();
    await mkdir(join(directory, 'manifests'));
    await writeFile(join(directory, 'manifests', 'fixed.yaml'), manifest);
    await writeFile(join(directory, 'ca.crt'), pki.authority.cert);
    const serving = pki.serving('system:node:n2', { dnsNames: ['n2'], ips: ['127.0.0.1'] });
    await writeFile(join(directory, 'serving.crt'), serving.cert);
    await writeFile(join(directory, 'serving.key'), serving.key);
    await writeFile(join(directory, 'config.yaml'), configuration(directory, port, endpoint));
    const flags = {
      config: `${directory}/config.yaml`,
      kubeconfig: `${directory}/kubeconfig`,
      'hostname-override': 'n2',
      'node-ip': '127.0.0.1',
      'root-dir': `${directory}/kubelet`,
      'node-labels': 'tier=test',
      'max-pods': '40',
      v: '2',
    };
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    kubelet = spawn(process.execPath, [binary, 'kubelet', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [kubelet.stdout, kubelet.stderr])
      stream?.on('data', (chunk: Buffer) => void (said += chunk.toString('utf8')));
  }, 60_000);
  afterAll(async () => {
    if (kubelet && kubelet.exitCode === null && kubelet.signalCode === null) {
      const exited = new Promise((done) => kubelet.once('exit', done));
      kubelet.kill('SIGTERM');
      await exited;
    }
    await apiserver?.close();
    await containerd?.stop();
  }, 60_000);

  it('registers its node as file and flags say, flags first', async () => {
    const nodes = admin.resource<Node>(core('nodes'));
    const isReady = ({ status }: Node): boolean =>
      status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
    await until(`the node is ready: ${said}`, 40_000, async () => nodes.get('n2').then(isReady, () => false));
    const node = await nodes.get('n2');
    expect(node.metadata.labels).toMatchObject({ tier: 'test', 'kubernetes.io/hostname': 'n2' });
    expect(node.spec?.taints).toContainEqual({ key: 'dedicated', value: 'test', effect: 'NoSchedule' });
    expect(node.status?.capacity?.['pods']).toBe('40');
    const millis = (text: string | undefined): number => (text?.endsWith('m') ? Number.parseInt(text) : Number(text) * 1000);
    expect(millis(node.status?.capacity?.['cpu']) - millis(node.status?.allocatable?.['cpu'])).toBe(100);
    expect(node.status?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(port);
  }, 60_000);

  it('runs static pods, serves, and leaves them running when it stops', async () => {
    const pods = admin.resource<Pod>(core('pods'), 'kube-system');
    const running = ({ status }: Pod): boolean => status?.phase === 'Running';
    await until(`the static pod runs: ${said}`, 30_000, async () => pods.get('fixed-n2').then(running, () => false));
    const client = createWireClient({ baseUrl: `https://127.0.0.1:${port}`, tls: reader });
    const configz = JSON.parse(await (await client.request({ path: '/configz' })).text()) as { kubeletconfig: object };
    expect(configz.kubeletconfig).toMatchObject({ port, maxPods: 40, clusterDomain: 'example.test' });
    client.close();
    const exited = new Promise((done) => kubelet.once('exit', done));
    kubelet.kill('SIGTERM');
    expect(await exited).toBe(0);
    expect((await pods.get('fixed-n2')).status?.phase).toBe('Running');
  }, 60_000);
});
