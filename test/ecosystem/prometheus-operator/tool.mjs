// prometheus-operator: itself, with the rights of its own manifests, which it has by impersonation; what it makes of its objects runs on simulated nodes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { freePort } from '../lib/ports.mjs';
import { goPrograms } from '../lib/programs.mjs';

const module = 'github.com/prometheus-operator/prometheus-operator';
const version = 'v0.85.0';

const objects = `apiVersion: v1
kind: Namespace
metadata: {name: metered}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: metered}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: metered}
spec: {replicas: 2, serviceAccountName: prometheus, serviceMonitorSelector: {}, ruleSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: metered}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: rules, namespace: metered}
spec: {groups: [{name: web, rules: [{alert: Down, expr: up == 0, for: 1m}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: metered}
spec: {replicas: 1}
`;

/** Files of the certificates that the cluster's administrator has. */
async function credentials({ kubectl, work }) {
  const { clusters: [{ cluster }], users: [{ user }] } = JSON.parse(await kubectl('config', 'view', '--raw', '--flatten', '--minify', '-o', 'json'));
  const write = (name, data) => {
    writeFileSync(join(work, name), Buffer.from(data, 'base64'), { mode: 0o600 });
    return join(work, name);
  };
  const [ca, certificate, key] = [cluster['certificate-authority-data'], user['client-certificate-data'], user['client-key-data']];
  return [`--apiserver=${cluster.server}`, `--ca-file=${write('ca.crt', ca)}`, `--cert-file=${write('admin.crt', certificate)}`, `--key-file=${write('admin.key', key)}`];
}

const run = {
  what: 'a Prometheus with a ServiceMonitor and a rule, and an Alertmanager: available, their configuration, a rule changed, scaled, gone again',
  version,
  async run(context) {
    const { cache, kubectl, apply, start, eventually } = context;
    const name = 'prometheus-operator';
    // Not in its own module, which looks for others in folders beside it.
    const programs = { [name]: { path: `${module}/cmd/operator`, version } };
    const { bin, folderOf } = await goPrograms(cache, { modules: { [module]: version }, programs, wanted: [name] });
    const examples = join(await folderOf(module), 'example');
    await kubectl('apply', '--server-side', '-f', join(examples, 'prometheus-operator-crd'));
    for (const part of ['service-account', 'cluster-role', 'cluster-role-binding']) await kubectl('apply', '-f', join(examples, `rbac/prometheus-operator/prometheus-operator-${part}.yaml`));
    await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
    const impersonated = '--as=system:serviceaccount:default:prometheus-operator';
    const flags = ['--kubelet-service=kube-system/kubelet', '--kubelet-endpoints=true', '--kubelet-endpointslice=false', `--web.listen-address=127.0.0.1:${await freePort()}`];
    const operator = start(name, join(bin, name), [...(await credentials(context)), impersonated, ...flags]);
    await apply(objects);
    const get = (...args) => kubectl('get', '-n', 'metered', ...args);
    const configuration = async () => gunzipSync(Buffer.from(await get('secret/prometheus-main', '-o', 'jsonpath={.data.prometheus\\.yaml\\.gz}'), 'base64')).toString();
    try {
      for (const one of ['prometheus/main', 'alertmanager/main']) await kubectl('wait', '-n', 'metered', '--for=condition=Available', one, '--timeout=120s');
      if (!(await configuration()).includes('serviceMonitor/metered/web/0')) throw new Error(await configuration());
      const rules = () => get('configmap/prometheus-main-rulefiles-0', '-o', 'yaml');
      if (!(await rules()).includes('up == 0')) throw new Error(await rules());
      await kubectl('patch', '-n', 'metered', 'prometheusrule/rules', '--type=json', '-p', '[{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":"up < 1"}]');
      await eventually('a changed rule arrives', async () => (await rules()).includes('up < 1'));
      // Its scale is that of its shards, of two replicas each.
      await kubectl('scale', '-n', 'metered', 'prometheus/main', '--replicas=3');
      await eventually('it is scaled', async () => (await get('prometheus/main', '-o', 'jsonpath={.status.availableReplicas}')) === '6');
      await eventually('both nodes are in the Endpoints of its kubelets', async () => {
        const addresses = await kubectl('get', 'endpoints', '-n', 'kube-system', 'kubelet', '-o', 'jsonpath={.subsets[*].addresses[*].targetRef.name}');
        return addresses.trim().split(' ').length === 2;
      });
      await kubectl('delete', '-n', 'metered', 'prometheus/main', 'alertmanager/main');
      await eventually('what it made is gone', async () => (await get('statefulsets,pods', '-o', 'name')) === '');
      return { result: 'works' };
    } catch (error) {
      throw new Error(`${error.message}\n${operator.log().split('\n').filter((line) => /level=(WARN|ERROR)/i.test(line)).slice(-20).join('\n')}`);
    } finally {
      await kubectl('delete', 'namespace', 'metered', '--wait=false');
    }
  },
};

export default { name: 'prometheus-operator', needs: ['go', 'kubectl'], runs: [run] };
