// Upstream's control plane as kubeadm makes it: kubeadm itself writes certificates, kubeconfigs and the manifests whose flags are used. Everything listens
// on loopback and lies in the folder of a place; an etcd is beside it.
import { execFile } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { freePort, startEtcd } from './servers.mjs';

const run = promisify(execFile);
const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
/** kubeadm takes no loopback address. Nobody has this one; what is written with it is changed to loopback. */
const unused = '192.0.2.1';
const apiVersion = 'kubeadm.k8s.io/v1beta4';
const [firstBackOffMs, backOffMsMax] = [10_000, 300_000];

/** Why a program of Go has ended, by what it wrote. */
function lastWords(file) {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.find((one) => /^(?:F\d{4} |panic: |fatal error: )/.test(one)) ?? lines.at(-1);
}

/**
 * A process that is started again when it has ended, as a kubelet does with a container: at once, then after ten seconds, then after twice as long each
 * time. Each end is printed. `memoryMb`: how much address space it may have.
 */
export function keepRunning(place, name, program, args, memoryMb) {
  const member = { name, restarts: 0, child: undefined };
  const start = () => {
    if (place.over) return;
    const log = place.path(`${name}-${member.restarts}.log`);
    const to = openSync(log, 'w');
    member.child = place.run('prlimit', [`--as=${memoryMb * 1e6}`, program, ...args], ['ignore', 'ignore', to]);
    closeSync(to);
    member.child.once('exit', (code, signal) => {
      if (place.over) return;
      console.log(`${name} ended (${signal ?? code}): ${lastWords(log)}`);
      const waitMs = member.restarts === 0 ? 0 : Math.min(firstBackOffMs * 2 ** (member.restarts - 1), backOffMsMax);
      member.restarts++;
      setTimeout(start, waitMs).unref();
    });
  };
  start();
  return member;
}

async function configuration(place, kubeadm, port, etcd) {
  const loopback = async () => ({ extraArgs: [{ name: 'secure-port', value: String(await freePort()) }] });
  const { stdout } = await run(kubeadm, ['version', '-o', 'short']);
  const init = {
    ...{ apiVersion, kind: 'InitConfiguration', nodeRegistration: { name: 'bench' } },
    localAPIEndpoint: { advertiseAddress: unused, bindPort: port },
  };
  const cluster = {
    ...{
      apiVersion,
      kind: 'ClusterConfiguration',
      kubernetesVersion: stdout.trim(),
      certificatesDir: place.path('kubernetes/pki'),
    },
    etcd: { external: { endpoints: [etcd] } },
    apiServer: { certSANs: ['127.0.0.1'], extraArgs: [{ name: 'bind-address', value: '127.0.0.1' }] },
    ...{ controllerManager: await loopback(), scheduler: await loopback() },
  };
  const file = place.path('kubeadm.yaml');
  writeFileSync(file, [init, cluster].map((one) => stringify(one)).join('---\n'));
  return file;
}

/**
 * Members by the names of their programs, `port`, and the `kubeconfig` of one who may do everything. `ready` is asked before the apiserver's clients are
 * started. `bin`: the folder of upstream's programs.
 */
export async function startKubeadmPlane(place, bin, { memoryMb, ready }) {
  const port = await freePort();
  const [etcd] = await startEtcd(place);
  const kubeadm = join(bin, 'kubeadm');
  const [folder, manifests] = [place.path('kubernetes'), place.path('manifests')];
  mkdirSync(manifests);
  const config = `--config=${await configuration(place, kubeadm, port, etcd.client)}`;
  const env = { ...process.env, KUBEADM_INIT_DRYRUN_DIR: manifests };
  const phase = (...words) => run(kubeadm, ['init', 'phase', ...words, config], { env });
  await phase('certs', 'all');
  await phase('kubeconfig', 'all', `--kubeconfig-dir=${folder}`);
  await phase('control-plane', 'all', '--dry-run');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.conf'))) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(unused, '127.0.0.1'));
  }
  const start = (name) => {
    const { spec } = parse(readFileSync(join(manifests, `${name}.yaml`), 'utf8'));
    const [, ...flags] = spec.containers[0].command.map((word) => word.replaceAll('/etc/kubernetes/', `${folder}/`));
    return keepRunning(place, name, join(bin, name), flags, memoryMb);
  };
  const plane = {
    port,
    kubeconfig: join(folder, 'super-admin.conf'),
    members: [{ name: 'etcd', restarts: 0, child: etcd.child }],
  };
  for (const name of components) {
    plane.members.push(start(name));
    if (name === 'kube-apiserver') await ready(plane);
  }
  return plane;
}
