// Upstream's kubeadm and kubelet, unmodified, join a cluster: kubeadm believes cluster-info and reads its configuration with nothing but a token, and the
// kubelet gets its certificate. On loopback, without a container runtime: the kubelet ends once it looks for one.
// Skipped unless SAGONG_UPSTREAM_BIN names a folder with both (build.sh), and without root.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  authorityHashes,
  type ControlPlane,
  createToken,
  ephemeralPki,
  identities,
  publishJoining,
  startControlPlane,
  startJoiningLoops,
} from '#cluster';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { type Output, run } from '../../e2e/cluster/harness.ts';
import { hasUpstream, upstreamBin } from './world.ts';

const canRun = hasUpstream('kubeadm') && hasUpstream('kubelet') && process.getuid?.() === 0;
const clock = systemClock();
const deps = { clock, rng: systemRng(), logger: silentLogger };
const pki = ephemeralPki();
const skipped = ['--ignore-preflight-errors=all', '--node-name=near'];

/** Runs a script with folders of its own in kubeadm's places, and ends all that it started. */
const alone = (script: string): Promise<Output> => {
  const own = ['/etc/kubernetes', '/var/lib/kubelet', '/run/lock']
    .map((path) => `[ -d ${path} ] && mount -t tmpfs tmpfs ${path}`)
    .join('\n');
  // The folders are made on an overlay of this machine's, which goes with the namespace.
  const overlay = `mount --make-rprivate /
for path in /etc /var/lib; do
  mkdir -p /mnt$path/up /mnt$path/work && mount -t overlay overlay -o lowerdir=$path,upperdir=/mnt$path/up,workdir=/mnt$path/work $path
done
mkdir -p /etc/kubernetes /var/lib/kubelet`;
  const words = [
    '--mount',
    '--pid',
    '--fork',
    '--mount-proc',
    '--kill-child',
    'sh',
    '-c',
    `mount -t tmpfs tmpfs /mnt\n${overlay}\n${own}\n${script}`,
  ];
  return run('unshare', words, { timeoutMs: 120_000 });
};

describe.skipIf(!canRun)(`upstream's kubeadm joins${canRun ? '' : ' (skipped without SAGONG_UPSTREAM_BIN and root)'}`, () => {
  let directory = '';
  let plane: ControlPlane;
  let loops: { stop(): Promise<void> };
  let way = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubeadm-'));
    plane = await startControlPlane({ dataDir: '', pki, port: 0, advertiseAddress: '127.0.0.1', joinable: true }, deps);
    await plane.apiserver.started;
    await plane.startLoops();
    const endpoint = new URL(plane.apiserver.url).host;
    await publishJoining(plane, {
      ...{ cluster: 'test', endpoint, ca: pki.authority.cert, kubeletTrust: pki.authority.cert, podCidr: '10.244.0.0/16' },
      ...{ growing: false, proxyMode: 'nftables', networkPolicy: 'nftables', args: {} },
    });
    loops = await startJoiningLoops(plane, deps, true);
    const token = await createToken(plane.client(identities.admin, 'test'), { ttlMs: 600_000 }, clock);
    way = `${endpoint} --token ${token} --discovery-token-ca-cert-hash ${authorityHashes(pki.authority.cert)[0]}`;
  });
  afterAll(async () => {
    await loops?.stop();
    await plane?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('reads how kubelets are configured', async () => {
    const { stdout, stderr } = await alone(`${upstreamBin}/kubeadm join ${way} --dry-run ${skipped.join(' ')}`);
    expect(stdout + stderr).toContain('This node has joined the cluster');
    expect(stdout).toMatch(/clusterDNS:\n- 10\.96\.0\.10\n/);
    expect(stdout).toContain('serverTLSBootstrap: true');
  });
  it('does not believe another authority', async () => {
    const [endpoint = '', , token = ''] = way.split(' ');
    const bootstrap = `{ apiServerEndpoint: "${endpoint}", token: ${token}, caCertHashes: ["sha256:${'0'.repeat(64)}"] }`;
    const { code, stderr } = await alone(`cat > /etc/kubernetes/join.yaml <<END
apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery: { bootstrapToken: ${bootstrap} }
nodeRegistration: { name: near, ignorePreflightErrors: [all] }
timeouts: { discovery: 3s }
END
${upstreamBin}/kubeadm join --config /etc/kubernetes/join.yaml --dry-run`);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('none of the public keys')]);
  });
  it('leaves a kubelet that gets its certificate', async () => {
    const kubelet = `${upstreamBin}/kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf`;
    const { stdout } = await alone(`
      timeout 60 ${upstreamBin}/kubeadm join ${way} ${skipped.join(' ')} >/dev/null 2>&1 &
      until [ -s /var/lib/kubelet/config.yaml ] && [ -s /etc/kubernetes/bootstrap-kubelet.conf ]; do sleep 0.1; done
      echo 'failCgroupV1: false' >> /var/lib/kubelet/config.yaml
      timeout 60 ${kubelet} --config=/var/lib/kubelet/config.yaml --hostname-override=near >/dev/null 2>&1
      grep -c 'client-certificate: ' /etc/kubernetes/kubelet.conf`);
    expect(stdout.trim()).toBe('1');
  });
});
