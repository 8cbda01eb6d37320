// The two clusters that meet the same tenants: ours, one process of `sagong up`, and upstream's as kubeadm makes it, whose nodes KWOK plays. Of both:
// `members`, the processes by name; `port`; `admin`, the requests of one who may do everything.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountOf } from '../../test/ecosystem/lib/clusters.mjs';
import { kwokFlags, kwokProgram, setUpKwok } from '../../test/ecosystem/lib/kwok.mjs';
import { goModule, goProgram, must } from '../../test/ecosystem/lib/programs.mjs';
import { keepRunning, startKubeadmPlane } from '../lib/kubeadm.mjs';
import { freePort, root } from '../lib/servers.mjs';
import { administrator, pause } from './client.mjs';

export const isRunning = ({ child }) => child.exitCode === null && child.signalCode === null;
/** Whether a member has ended and nobody starts it again. */
export const isBroken = ({ members }) => members.some((member) => !isRunning(member) && member.restarts === 0);

async function until(what, cluster, attempt) {
  for (let tries = 0; tries < 600 && !isBroken(cluster); tries++) {
    if (await attempt().catch(() => false)) return;
    await pause(500);
  }
  const ends = cluster.members.map(
    ({ name, child, restarts }) => `${name} ${child.signalCode ?? child.exitCode ?? 'runs'}, ${restarts} restarts`,
  );
  throw new Error(`${what}: not in time (${ends.join('; ')})`);
}

/** Gives it an administrator. */
async function ready(cluster) {
  const ask = async () => {
    cluster.admin ??= administrator(cluster);
    return (await cluster.admin('GET', '/readyz')).status === 200;
  };
  await until('the cluster', cluster, async () => ask());
}

async function nodesReady(cluster, count) {
  await until('its nodes', cluster, async () => {
    const { value } = await cluster.admin('GET', '/api/v1/nodes?resourceVersion=0');
    const isReady = ({ status }) => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
    return value.items.filter(isReady).length >= count;
  });
}

export async function startOurs(place, nodes) {
  const port = await freePort();
  const dataDir = place.path('cluster');
  const where = ['--data-dir', dataDir, '--port', String(port), '--no-kubeconfig'];
  const args = [join(root, 'bin', 'sagong.mjs'), 'up', ...where, '--nodes', String(nodes), '--runtime', 'simulated'];
  const child = place.run(process.execPath, args, ['ignore', 'ignore', 'inherit']);
  const cluster = { port, kubeconfig: join(dataDir, 'kubeconfig'), members: [{ name: 'sagong', restarts: 0, child }] };
  await ready(cluster);
  await nodesReady(cluster, nodes);
  return cluster;
}

/** What a simulated node of ours has. */
const room = { cpu: '8', memory: '32Gi', pods: '110' };
const node = (name) => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  status: { capacity: room, allocatable: room },
});

/** A thousand kubelets do not wait for each other, as KWOK's nodes do by default: four leases at once are too few for all of them on a busy machine. */
const atOnce = 64;
const kwokConfiguration = {
  ...{ apiVersion: 'config.kwok.x-k8s.io/v1alpha1', kind: 'KwokConfiguration' },
  options: { nodeLeaseParallelism: atOnce, nodePlayStageParallelism: atOnce, podPlayStageParallelism: atOnce },
};

async function startKwok(place, bin, cluster, memoryMb) {
  const kubectl = (...args) => must('kubectl', args, { env: { KUBECONFIG: cluster.kubeconfig } });
  const program = await goProgram(place.path('.'), bin, kwokProgram);
  await setUpKwok({ goModule: (module) => goModule(place.path('.'), module), kubectl });
  writeFileSync(place.path('kwok.json'), JSON.stringify(kwokConfiguration));
  const own = [`--config=${place.path('kwok.json')}`, '--v=WARN'];
  const flags = [...own, ...(await kwokFlags(accountOf(place.path('.'), kubectl)))];
  cluster.members.push(keepRunning(place, 'kwok', program, flags, memoryMb));
}

/** `bin`: the folder of upstream's programs, in which KWOK's is kept. `memoryMb`: how much each process may have. */
export async function startUpstream(place, nodes, bin, memoryMb) {
  const cluster = await startKubeadmPlane(place, bin, { memoryMb, ready });
  await startKwok(place, bin, cluster, memoryMb);
  for (let at = 0; at < nodes; at++) {
    const { status, value } = await cluster.admin('POST', '/api/v1/nodes', node(`node-${at}`));
    if (status !== 201) throw new Error(`a node: ${status} ${value.message ?? value}`);
  }
  await nodesReady(cluster, nodes);
  return cluster;
}
