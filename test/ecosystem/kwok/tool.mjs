// KWOK's controller, as itself, on a cluster without nodes: it makes nodes ready and pods running, with the rights and by the stages of its own manifests.
import { kwokFlags, kwokProgram, setUpKwok, version } from '../lib/kwok.mjs';

const nodes = 20;
const pods = 200;

const nodeOf = (_, at) => `apiVersion: v1
kind: Node
metadata: {name: kwok-${at}, labels: {type: kwok}}
status: {allocatable: {cpu: "32", memory: 256Gi, pods: "110"}, capacity: {cpu: "32", memory: 256Gi, pods: "110"}}
`;

const workloads = `apiVersion: apps/v1
kind: Deployment
metadata: {name: many}
spec:
  replicas: ${pods}
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: a, image: fake}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  completions: 5
  parallelism: 5
  template:
    spec: {restartPolicy: Never, containers: [{name: a, image: fake}]}
`;

const controller = {
  what: `controller by stages of the cluster: ${nodes} nodes with leases, ${pods} pods, a Job, and all gone again`,
  version,
  async run({ goModule, goProgram, kubectl, apply, start, eventually, kubeconfigOf }) {
    const program = await goProgram(kwokProgram);
    await setUpKwok({ goModule, kubectl });
    const kwok = start('kwok', program, await kwokFlags(kubeconfigOf));
    await apply(Array.from({ length: nodes }, nodeOf).join('---\n'));
    await kubectl('wait', '--for=condition=Ready', 'node', '-l', 'type=kwok', '--timeout=120s');
    await apply(workloads);
    const started = Date.now();
    await kubectl('rollout', 'status', 'deployment/many', '--timeout=300s');
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    await kubectl('wait', '--for=condition=Complete', 'job/once', '--timeout=120s');
    const leases = (await kubectl('get', 'leases', '-n', 'kube-node-lease', '-o', 'name')).trim().split('\n').length;
    if (leases < nodes) throw new Error(`${leases} leases of ${nodes} nodes\n${kwok.log().slice(-3000)}`);
    await kubectl('delete', 'deployment/many', 'job/once');
    await eventually('all pods are gone', async () => (await kubectl('get', 'pods', '-o', 'name')).trim() === '');
    return { result: 'works', differs: `${pods} pods ready in ${seconds} s` };
  },
};

export default { name: 'KWOK', cluster: 'nodeless', needs: ['go', 'kubectl'], runs: [controller] };
