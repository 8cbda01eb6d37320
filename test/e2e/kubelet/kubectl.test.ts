// The whole path: kubectl, the real apiserver over TLS with RBAC and the node authorizer, and this kubelet as a node over a real containerd.
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { defaultOptions as apiServerDefaults, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient, kubeconfigFor, type KubeClient, writeKubeconfig } from '#client';
import { openPki } from '../../../src/cluster/certificates/certificates.ts';
import { systemClock, systemRng } from '#host';
import { defaultOptions, type KubeletHandle, runKubelet } from '#kubelet';
import { openMemoryStore } from '#store';
import { silentLogger } from '#utils';
import { freePort } from '../../support/ports.ts';
import { missingForContainers, type PrivateContainerd, startContainerd, until } from './private-containerd.ts';

const kubectl = ['kubectl.1.36', 'kubectl.1.33', 'kubectl'].find((name) => spawnSync(name, ['version', '--client']).status === 0);
const missing = missingForContainers() ?? (kubectl === undefined ? 'no kubectl' : undefined);
const core = (resource: string) => ({ group: '', version: 'v1', resource });

describe.skipIf(missing !== undefined)(
  `kubectl, apiserver, kubelet, containerd${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    const deps = { clock: systemClock(), rng: systemRng(), logger: silentLogger };
    let containerd: PrivateContainerd;
    let apiserver: KubeApiServer;
    let admin: KubeClient;
    let node: KubeletHandle;
    let manifests: string;

    beforeAll(async () => {
      containerd = await startContainerd('10.213.0.0/24');
      const { directory, endpoint } = containerd;
      manifests = join(directory, 'manifests');
      await mkdir(manifests);
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
          podManifestPath: manifests,
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
      try {
        await node?.close();
        await apiserver?.close();
      } finally {
        await containerd?.stop();
      }
    }, 60_000);

    const run = (args: string[], input?: string): Promise<{ code: number | null; out: string; err: string }> =>
      new Promise((resolve) => {
        const env = { ...process.env, KUBECONFIG: join(containerd.directory, 'kubeconfig'), HOME: containerd.directory };
        const child = spawn(kubectl ?? '', args, { env });
        const output = { out: '', err: '' };
        child.stdout.on('data', (chunk: Buffer) => void (output.out += chunk.toString('utf8')));
        child.stderr.on('data', (chunk: Buffer) => void (output.err += chunk.toString('utf8')));
        child.on('close', (code) => resolve({ code, ...output }));
        // A program that ends without reading says why by its exit code.
        child.stdin.on('error', () => {});
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
      const waited = await run(['wait', '--for=condition=Ready', 'pod/web', '--timeout=60s']);
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
      const env = { ...process.env, KUBECONFIG: join(containerd.directory, 'kubeconfig'), HOME: containerd.directory };
      const forward = spawn(kubectl ?? '', ['port-forward', 'pod/web', ':8080'], { env });
      try {
        const said = await new Promise<string>((resolve) => forward.stdout.once('data', (chunk) => resolve(String(chunk))));
        const port = /127\.0\.0\.1:(\d+)/.exec(said)?.[1];
        expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('served\n');
      } finally {
        forward.kill();
      }
    });

    it('follows a ConfigMap by watch, with the rights of a node', async () => {
      const map = (value: string): string =>
        JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'live' }, data: { a: value } });
      await run(['apply', '-f', '-'], map('one'));
      const script = 'while true; do cat /live/a; echo; sleep 0.2; done';
      const override = {
        spec: {
          terminationGracePeriodSeconds: 1,
          nodeName: 'n1',
          volumes: [{ name: 'live', configMap: { name: 'live' } }],
          containers: [
            {
              name: 'live',
              image: 'busybox',
              imagePullPolicy: 'IfNotPresent',
              command: ['sh', '-c', script],
              volumeMounts: [{ name: 'live', mountPath: '/live' }],
            },
          ],
        },
      };
      await run(['run', 'live', '--image=busybox', '--restart=Never', `--overrides=${JSON.stringify(override)}`]);
      await run(['wait', '--for=condition=Ready', 'pod/live', '--timeout=60s']);
      await run(['apply', '-f', '-'], map('two'));
      await until('the new value', 20_000, async () => (await run(['logs', 'live', '--tail=1'])).out === 'two\n');
      expect((await run(['delete', 'pod', 'live'])).code).toBe(0);
    });

    it('runs a shell to the end and takes it away', async () => {
      const overrides = JSON.stringify({ spec: { nodeName: 'n1' } });
      const common = ['--image=busybox', '--image-pull-policy=IfNotPresent', '--restart=Never', `--overrides=${overrides}`];
      const shell = await run(['run', 'once', '-i', '--rm', ...common, '--', 'sh'], 'sleep 1; echo from-$((40+2)); exit 0\n');
      expect(shell.out).toContain('from-42');
      expect(shell.out).toContain('pod "once" deleted');
      expect((await run(['get', 'pod', 'once'])).err).toContain('not found');
    });

    it('attaches to a terminal, of containers and of ephemeral ones', async () => {
      const common = ['--image=busybox', '--image-pull-policy=IfNotPresent'];
      const env = { ...process.env, KUBECONFIG: join(containerd.directory, 'kubeconfig'), HOME: containerd.directory };
      /** Types a line when the prompt is there; the input stays open, as its end would detach. */
      const typed = async (command: string[], prompt: string, line: string): Promise<string> => {
        const child = spawn(command[0] ?? '', command.slice(1), { env });
        let shown = '';
        const show = (chunk: Buffer): void => void (shown += chunk.toString('utf8'));
        child.stdout.on('data', show);
        child.stderr.on('data', show);
        child.stdin.on('error', () => {});
        // Comes after all output, which the exit alone does not.
        let closed = false;
        child.once('close', () => (closed = true));
        try {
          await until('a prompt', 40_000, async () => shown.includes(prompt));
          child.stdin.write(line);
          await until('the end', 20_000, async () => closed);
        } catch (error) {
          throw new Error(`${(error as Error).message}; it showed: ${shown}`, { cause: error });
        } finally {
          child.kill();
        }
        return shown;
      };
      const ended = (name: string): Promise<void> =>
        until(`${name} has ended`, 20_000, async () => {
          const { status } = await admin.resource<Pod>(core('pods'), 'default').get('web');
          const found = status?.ephemeralContainerStatuses?.find((container) => container.name === name);
          return found?.state?.terminated?.reason === 'Completed';
        });
      const debug = [kubectl ?? '', 'debug', 'web', '-i', '--target=app', '-c', 'dbg', ...common, '--', 'sh'];
      expect(await typed(debug, 'command prompt', 'cat /proc/1/cmdline | tr "\\0" " "; exit\n')).toContain('httpd -f -p 8080');
      await ended('dbg');
      const terminal = `${kubectl} debug web -it -c term ${common.join(' ')} -- sh`;
      expect(await typed(['script', '-qec', terminal, '/dev/null'], '# ', 'tty; exit\n')).toMatch(/\/dev\/pts\/0/);
      await ended('term');
    }, 180_000);

    it('runs static pods and shows their mirrors', async () => {
      const file = join(manifests, 'fixed.yaml');
      const fixed = (word: string): string => `apiVersion: v1
kind: Pod
metadata: {name: fixed, namespace: kube-system}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: app, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, "echo ${word}; exec sleep 3600"]}
`;
      const shown = async (): Promise<string> => (await run(['get', 'pods', '-n', 'kube-system', '--no-headers'])).out;
      await writeFile(file, fixed('first'));
      await until('the mirror runs', 20_000, async () => /^fixed-n1\s+1\/1\s+Running\s/.test(await shown()));
      expect((await run(['logs', '-n', 'kube-system', 'fixed-n1'])).out).toBe('first\n');
      const uid = (await run(['get', 'pod', '-n', 'kube-system', 'fixed-n1', '-o', 'jsonpath={.metadata.uid}'])).out;
      expect((await run(['delete', 'pod', '-n', 'kube-system', 'fixed-n1', '--wait=false'])).code).toBe(0);
      await until('another mirror of the same pod', 20_000, async () => {
        const [other, phase] = (
          await run(['get', 'pod', '-n', 'kube-system', 'fixed-n1', '-o', 'jsonpath={.metadata.uid} {.status.phase}'])
        ).out.split(' ');
        return other !== '' && other !== uid && phase === 'Running';
      });
      expect((await run(['logs', '-n', 'kube-system', 'fixed-n1'])).out).toBe('first\n');
      await writeFile(file, fixed('second'));
      await until(
        'the new version runs',
        30_000,
        async () => (await run(['logs', '-n', 'kube-system', 'fixed-n1'])).out === 'second\n',
      );
      await rm(file);
      await until('the mirror is gone', 20_000, async () => (await shown()) === '');
    }, 120_000);

    it('describes the pod with its events, and deletes it', async () => {
      const { out } = await run(['describe', 'pod', 'web']);
      expect(out).toMatch(/Normal\s+Started\s.*kubelet\s+Container started/);
      expect(out).toMatch(/QoS Class:\s+Burstable/);
      expect((await run(['delete', 'pod', 'web'])).code).toBe(0);
    });
  },
);
