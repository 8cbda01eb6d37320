// metrics-server in place of ours: its own manifests on real nodes, in an image made here of its Go module. kubectl top and an autoscaler read what it measures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildImage } from '#cluster/images';
import { loadArchives } from '../lib/images.mjs';
import { container, loadShell } from '../lib/shell-pods.mjs';

const module = 'sigs.k8s.io/metrics-server';
const version = 'v0.9.0';

/** Pods that take all of the CPU that they may have, and an autoscaler that wants them at half of it. */
const workload = `apiVersion: apps/v1
kind: Deployment
metadata: {name: busy}
spec:
  selector: {matchLabels: {app: busy}}
  template:
    metadata: {labels: {app: busy}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - ${container('busy', 'while :; do :; done', ', resources: {requests: {cpu: 100m, memory: 8Mi}, limits: {cpu: 100m}}')}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: busy}
spec:
  minReplicas: 1
  maxReplicas: 2
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: busy}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`;

const usage = /^(\S+)\s+(\S+\s+)?(\d+)m\s+(?:\d+%\s+)?(\d+)Mi/;

/** Rows of kubectl top as `{ name, cpu, memory }`. */
const rowsOf = (text) =>
  text
    .trim()
    .split('\n')
    .map((line) => usage.exec(line))
    .filter((match) => match !== null)
    .map(([, name, , cpu, memory]) => ({ name, cpu: Number(cpu), memory: Number(memory) }));

async function install({ goModule, goProgram, must, kubectl, ...context }) {
  const program = await goProgram({ module, version, path: './cmd/metrics-server', name: 'metrics-server' });
  const overlay = join(await goModule(`${module}@${version}`), 'manifests/overlays/release');
  const [, reference] = /image: *(\S+)/.exec(await must('kubectl', ['kustomize', overlay]));
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  // As in the image of its makers there is nothing but the program.
  const files = [{ name: 'metrics-server', mode: 0o755, content: readFileSync(program) }];
  await loadArchives({ must, ...context }, [buildImage({ reference, architecture, files, compressed: false, config: { Entrypoint: ['/metrics-server'], User: '65534' } })]);
  await kubectl('apply', '-k', overlay);
  await kubectl('rollout', 'status', '-n', 'kube-system', 'deployment/metrics-server', '--timeout=180s');
  await kubectl('wait', '--for=condition=Available', 'apiservice/v1beta1.metrics.k8s.io', '--timeout=120s');
  return overlay;
}

const run = {
  what: 'its manifests in place of ours: kubectl top of nodes, pods and containers, an autoscaler that scales by it',
  version,
  async run(context) {
    const { kubectl, apply, eventually } = context;
    const overlay = await install(context);
    await loadShell(context);
    const tells = () => kubectl('logs', '-n', 'kube-system', 'deployment/metrics-server', '--tail=20');
    try {
      await apply(workload);
      await kubectl('rollout', 'status', 'deployment/busy', '--timeout=120s');
      const nodes = (await kubectl('get', 'nodes', '-o', 'name')).trim().split('\n').length;
      await eventually('each node has its figures', async () => rowsOf(await kubectl('top', 'nodes', '--no-headers')).filter(({ memory }) => memory > 0).length === nodes);
      const started = Date.now();
      await eventually('the autoscaler scales', async () => (await kubectl('get', 'deployment', 'busy', '-o', 'jsonpath={.status.readyReplicas}')) === '2', 300_000);
      const seconds = Math.round((Date.now() - started) / 1000);
      const containers = rowsOf(await kubectl('top', 'pods', '-l', 'app=busy', '--containers', '--no-headers'));
      // Of 100m that its limit gives it one pod cannot be measured far above.
      if (!containers.some(({ cpu }) => cpu > 50 && cpu < 200)) throw new Error(JSON.stringify(containers));
      const status = JSON.parse(await kubectl('get', 'hpa', 'busy', '-o', 'json')).status;
      if (!status.currentMetrics?.some(({ resource }) => resource?.name === 'cpu' && resource.current.averageUtilization > 50)) throw new Error(JSON.stringify(status));
      const raw = JSON.parse(await kubectl('get', '--raw', '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?labelSelector=app%3Dbusy'));
      if (raw.kind !== 'PodMetricsList' || raw.items.some(({ metadata }) => metadata.labels.app !== 'busy')) throw new Error(JSON.stringify(raw));
      return { result: 'works', differs: `scaled ${seconds} s after its first figures` };
    } catch (error) {
      throw new Error(`${error.message}\n${await tells().catch(({ message }) => message)}`, { cause: error });
    } finally {
      await kubectl('delete', 'deployment/busy', 'hpa/busy', '--ignore-not-found');
      await kubectl('delete', '-k', overlay, '--ignore-not-found');
    }
  },
};

export default { name: 'metrics-server', needs: ['go', 'kubectl', 'busybox'], cluster: 'containers', runs: [run] };
