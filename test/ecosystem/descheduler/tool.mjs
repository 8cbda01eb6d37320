// The descheduler, as itself and with the rights of its own manifests: it evicts what violates its policy, and nothing that a disruption budget keeps.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const version = 'v0.36.0';

const policy = `apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: all
  pluginConfig:
  - {name: DefaultEvictor, args: {nodeFit: true}}
  - {name: RemovePodsViolatingNodeTaints}
  plugins:
    deschedule: {enabled: [RemovePodsViolatingNodeTaints]}
`;

const workload = (name) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: 4
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: ${name}}}}]
      containers: [{name: a, image: nginx}]
---
`;

const budget = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: kept}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: kept}}}
`;

const names = (text) => new Set(text.trim().split('\n'));

const run = {
  what: 'evictions of pods that violate a taint, none against a disruption budget',
  version,
  async run({ goModule, goProgram, kubectl, apply, must, eventually, kubeconfigOf, work }) {
    const program = await goProgram({ module: 'sigs.k8s.io/descheduler', version, path: './cmd/descheduler', name: 'descheduler' });
    const manifests = join(await goModule(`sigs.k8s.io/descheduler@${version}`), 'kubernetes/base');
    await kubectl('apply', '-f', join(manifests, 'rbac.yaml'));
    await apply(workload('moved') + workload('kept') + budget);
    for (const name of ['moved', 'kept']) await kubectl('rollout', 'status', `deployment/${name}`, '--timeout=120s');
    const [node] = (await kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}')).split(' ');
    const on = async (app) => names(await kubectl('get', 'pods', '-l', `app=${app}`, `--field-selector=spec.nodeName=${node}`, '-o', 'name'));
    const [moved, kept] = [await on('moved'), await on('kept')];
    await kubectl('taint', 'node', node, 'gone=yes:NoSchedule');
    try {
      const file = join(work, 'policy.yaml');
      writeFileSync(file, policy);
      const kubeconfig = await kubeconfigOf('kube-system', 'descheduler-sa');
      await must(program, [`--kubeconfig=${kubeconfig}`, `--policy-config-file=${file}`, '--descheduling-interval=0', '--secure-port=0'], { timeoutMs: 180_000 });
      await eventually('pods that may go are elsewhere', async () => (await on('moved')).size === 1 && [...(await on('moved'))][0] === '');
      await kubectl('rollout', 'status', 'deployment/moved', '--timeout=120s');
      const left = await on('kept');
      if (left.size !== kept.size) throw new Error(`a budget was not kept: ${[...kept].join(' ')} became ${[...left].join(' ')}`);
      const events = await kubectl('get', 'events', '-o', 'jsonpath={.items[*].reason}');
      if (!events.includes('RemovePodsViolatingNodeTaints') && !events.includes('Descheduled')) throw new Error(`no event of an eviction: ${events}`);
      return { result: 'works', differs: `${moved.size} evicted, ${kept.size} kept` };
    } finally {
      await kubectl('taint', 'node', node, 'gone-');
      await kubectl('delete', 'deployment/moved', 'deployment/kept', 'pdb/kept');
    }
  },
};

export default { name: 'descheduler', needs: ['go', 'kubectl'], runs: [run] };
