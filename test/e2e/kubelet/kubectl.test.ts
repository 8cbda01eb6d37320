// The whole path: kubectl, the real apiserver over TLS with RBAC and the node authorizer, and this kubelet as a node over a real containerd.
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { defaultOptions as apiServerDefaults, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient, kubeconfigFor, type KubeClient, writeKubeconfig } from '#client';
import { openPki } from '../../../src/cluster/certificates.ts';
import { systemClock, systemRng } from '#host';
import { defaultOptions, type KubeletHandle, runKubelet } from '#kubelet';
import { openMemoryStore } from '#store';
import { silentLogger } from '#utils';
import { missingForContainers, type PrivateContainerd, startContainerd, until } from './private-containerd.ts';

const kubectl = ['kubectl.1.36', 'kubectl.1.33', 'kubectl'].find((name) => spawnSync(name, ['version', '--client']).status === 0);
const missing = missingForContainers() ?? (kubectl === undefined ? 'no kubectl' : undefined);
const core = (resource: string) => ({ group: '', version: 'v1', resource });

/** A port nobody listens on. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

describe.skipIf(missing !== undefined)(
  `kubectl, apiserver, kubelet, containerd${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    const deps = { clock: systemClock(), rng: systemRng(), logger: silentLogger };
    let containerd: PrivateContainerd;
    let apiserver: KubeApiServer;
    let admin: KubeClient;
    let node: KubeletHandle;

    beforeAll(async () => {
      containerd = await startContainerd('10.213.0.0/24');
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
          kubelet: {
            client: pki.client('kube-apiserver-kubelet-client', ['system:masters']),
            ca: pki.authority.cert,
            addressTypes: ['InternalIP'],
          },
        },
        { ...deps, store: openMemoryStore() },
      );
      const identity = (name: string, ...groups: string[]) => ({ name, groups: [...groups, 'system:authenticated'] });
      admin = createClient(apiserver.transport(identity('admin', 'system:masters'), 'test'));
      const pair = pki.client('kubernetes-admin', ['system:masters']);
      const config = { server: apiserver.url, ca: pki.authority.cert, certificate: pair.cert, key: pair.key };
      await writeKubeconfig(join(directory, 'kubeconfig'), kubeconfigFor('test', config));
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
      await admin
        .resource(core('serviceaccounts'), 'default')
        .create(account)
        .catch(() => {});
      const rootCa = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'kube-root-ca.crt' },
        data: { 'ca.crt': pki.authority.cert },
      };
      await admin.resource(core('configmaps'), 'default').create(rootCa as KubeObject);
      const serving = pki.serving('system:node:n1', { dnsNames: ['n1'], ips: ['127.0.0.1'] });
      node = await runKubelet(
        {
          ...defaultOptions('n1'),
          nodeIPs: ['127.0.0.1'],
          port: await freePort(),
          address: '127.0.0.1',
          rootDir: `${directory}/kubelet`,
          podLogsDir: `${directory}/pod-logs`,
          containerRuntimeEndpoint: endpoint,
          cgroupRoot: directory.slice(directory.lastIndexOf('/') + 1),
        },
        {
          ...deps,
          client: createClient(apiserver.transport(identity('system:node:n1', 'system:nodes'), 'kubelet')),
          serving: {
            tls: { cert: serving.cert, key: serving.key, ca: pki.authority.cert },
            anonymous: false,
            tokenReview: true,
            authorization: 'Webhook',
          },
        },
      );
    }, 60_000);
    afterAll(async () => {
      await admin
        ?.resource<Pod>(core('pods'), 'default')
        .delete('web')
        .catch(() => {});
      await until(
        'gone',
        20_000,
        async () => (await admin.resource<Pod>(core('pods'), 'default').list()).items.length === 0,
      ).catch(() => {});
      await node?.close();
      await apiserver?.close();
      await containerd?.stop();
    }, 60_000);

    const run = (args: string[], input?: string): Promise<{ code: number | null; out: string; err: string }> =>
      new Promise((resolve) => {
        const env = { ...process.env, KUBECONFIG: join(containerd.directory, 'kubeconfig'), HOME: containerd.directory };
        const child = spawn(kubectl ?? '', args, { env });
        const output = { out: '', err: '' };
        child.stdout.on('data', (chunk: Buffer) => void (output.out += chunk.toString('utf8')));
        child.stderr.on('data', (chunk: Buffer) => void (output.err += chunk.toString('utf8')));
        child.on('close', (code) => resolve({ code, ...output }));
        child.stdin.end(input);
      });

    const manifest = `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 1
  containers:
  - name: app
    image: busybox
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "echo started; mkdir /www; echo served > /www/index.html; exec httpd -f -p 8080 -h /www"]
    readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
    resources: {requests: {cpu: 50m, memory: 16Mi}}
`;

    it('applies a pod and waits until it is ready', async () => {
      const applied = await run(['apply', '-f', '-'], manifest);
      expect(applied).toMatchObject({ code: 0, out: 'pod/web created\n' });
      const waited = await run(['wait', '--for=condition=Ready', 'pod/web', '--timeout=30s']);
      expect(waited.err + waited.out).toBe('pod/web condition met\n');
      const got = await run(['get', 'pods', 'web', '-o', 'wide', '--no-headers']);
      expect(got.out).toMatch(/^web\s+1\/1\s+Running\s+0\s+\S+\s+10\.213\.0\.\d+\s+n1\s/);
    });

    it('mounts a service account token that the API accepts', async () => {
      const path = '/var/run/secrets/kubernetes.io/serviceaccount';
      const token = (await run(['exec', 'web', '--', 'cat', `${path}/token`])).out;
      expect(token.split('.')).toHaveLength(3);
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } };
      const api = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' };
      const answer = (await admin.resource(api).create(review)) as { status?: { user?: { username: string } } };
      expect(answer.status?.user?.username).toBe('system:serviceaccount:default:default');
    });

    it('shows logs, runs commands, forwards ports', async () => {
      expect((await run(['logs', 'web'])).out).toBe('started\n');
      const executed = await run(['exec', '-i', 'web', '--', 'sh', '-c', 'cat; exit 4'], 'typed');
      expect(executed).toMatchObject({ code: 4, out: 'typed' });
      const port = await freePort();
      const env = { ...process.env, KUBECONFIG: join(containerd.directory, 'kubeconfig'), HOME: containerd.directory };
      const forward = spawn(kubectl ?? '', ['port-forward', 'pod/web', `${port}:8080`], { env });
      try {
        await new Promise((resolve) => forward.stdout.once('data', resolve));
        expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('served\n');
      } finally {
        forward.kill();
      }
    });

    it('describes the pod with its events, and deletes it', async () => {
      const { out } = await run(['describe', 'pod', 'web']);
      expect(out).toMatch(/Normal\s+Started\s.*kubelet\s+Container started/);
      expect(out).toMatch(/QoS Class:\s+Burstable/);
      expect((await run(['delete', 'pod', 'web'])).code).toBe(0);
    });
  },
);
