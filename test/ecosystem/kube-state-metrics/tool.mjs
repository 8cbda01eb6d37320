// kube-state-metrics, as itself and with the rights of its own manifests: its figures against what kubectl says.
import { join } from 'node:path';
import { freePort } from '../lib/ports.mjs';

const module = 'k8s.io/kube-state-metrics/v2';
const version = 'v2.20.0';

const workloads = `apiVersion: apps/v1
kind: Deployment
metadata: {name: metered, labels: {app: metered}}
spec:
  replicas: 3
  selector: {matchLabels: {app: metered}}
  template:
    metadata: {labels: {app: metered}}
    spec: {containers: [{name: a, image: nginx, resources: {requests: {cpu: 10m}}}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: metered}
spec: {schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: busybox}]}}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: metered}
spec: {maxReplicas: 4, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: metered}}
`;

const expected = [
  'kube_deployment_status_replicas_available{namespace="default",deployment="metered"} 3',
  'kube_deployment_spec_replicas{namespace="default",deployment="metered"} 3',
  'kube_cronjob_spec_suspend{namespace="default",cronjob="metered"} 0',
  'kube_horizontalpodautoscaler_spec_max_replicas{namespace="default",horizontalpodautoscaler="metered"} 4',
  'kube_namespace_status_phase{namespace="default",phase="Active"} 1',
];

const exporter = {
  what: 'all its default resources, listed and watched with the rights of its manifests',
  version,
  async run({ goModule, goProgram, kubectl, apply, start, eventually, kubeconfigOf }) {
    const program = await goProgram({ module, version, name: 'kube-state-metrics' });
    const manifests = join(await goModule(`${module}@${version}`), 'examples/standard');
    for (const name of ['service-account', 'cluster-role', 'cluster-role-binding']) await kubectl('apply', '-f', join(manifests, `${name}.yaml`));
    await apply(workloads);
    await kubectl('rollout', 'status', 'deployment/metered', '--timeout=120s');
    const [port, telemetry] = [await freePort(), await freePort()];
    const kubeconfig = await kubeconfigOf('kube-system', 'kube-state-metrics');
    const addresses = ['--host=127.0.0.1', `--port=${port}`, '--telemetry-host=127.0.0.1', `--telemetry-port=${telemetry}`];
    const exporting = start('kube-state-metrics', program, [`--kubeconfig=${kubeconfig}`, ...addresses]);
    const scrape = async (at) => (await fetch(`http://127.0.0.1:${at}/metrics`)).text();
    await eventually('its figures are those of the cluster', async () => {
      const lines = new Set((await scrape(port)).split('\n'));
      const missing = expected.filter((line) => !lines.has(line));
      if (missing.length > 0) throw new Error(`${missing.join('\n')}\n${exporting.log().slice(-1000)}`);
      return true;
    });
    await kubectl('scale', 'deployment/metered', '--replicas=1');
    const scaled = 'kube_deployment_spec_replicas{namespace="default",deployment="metered"} 1';
    await eventually('its watches tell a change', async () => (await scrape(port)).includes(scaled));
    const families = (await scrape(port)).match(/^# TYPE /gm).length;
    const own = await scrape(telemetry);
    const failed = [...own.matchAll(/^kube_state_metrics_(?:list|watch)_total\{.*result="error"\} [1-9].*$/gm)].map(([line]) => line);
    await kubectl('delete', 'deployment/metered', 'cronjob/metered', 'hpa/metered');
    if (failed.length > 0) throw new Error(failed.join('\n'));
    const watches = own.match(/^kube_state_metrics_watch_total\{.*result="success"\} [1-9]/gm)?.length ?? 0;
    return { result: 'works', differs: `${families} families of metrics, ${watches} kinds watched` };
  },
};

export default { name: 'kube-state-metrics', needs: ['go', 'kubectl'], runs: [exporter] };
