// The CustomResourceDefinitions that popular projects publish, as they are in their Go modules: applied by server-side apply, each has to become Established.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const projects = [
  ['Gateway API', 'sigs.k8s.io/gateway-api', 'v1.6.1', 'config/crd/experimental'],
  ['prometheus-operator', 'github.com/prometheus-operator/prometheus-operator', 'v0.85.0', 'example/prometheus-operator-crd-full'],
  ['Argo CD', 'github.com/argoproj/argo-cd/v3', 'v3.3.0', 'manifests/crds'],
  ['Argo Rollouts', 'github.com/argoproj/argo-rollouts', 'v1.9.0', 'manifests/crds'],
  ['Istio', 'istio.io/istio', 'v0.0.0-20260827124520-eed52ebb66ad', 'manifests/charts/base/files/crd-all.gen.yaml'],
  ['Knative Serving', 'knative.dev/serving', 'v0.51.0', 'config/core/300-resources'],
  ['Crossplane', 'github.com/crossplane/crossplane', 'v1.20.0', 'cluster/crds'],
  ['cert-manager', 'github.com/cert-manager/cert-manager', 'v1.21.2', 'deploy/crds'],
  ['Kueue', 'sigs.k8s.io/kueue', 'v0.19.2', 'config/components/crd/bases'],
  ['Cluster API', 'sigs.k8s.io/cluster-api', 'v1.12.0', 'config/crd/bases'],
  ['KWOK', 'sigs.k8s.io/kwok', 'v0.8.0', 'kustomize/crd/bases'],
];

const files = (path) =>
  path.endsWith('.yaml')
    ? [path]
    : readdirSync(path)
        .filter((name) => /\.ya?ml$/.test(name) && !name.startsWith('kustomization'))
        .map((name) => join(path, name));

const applied = /^customresourcedefinition\.apiextensions\.k8s\.io\/(\S+) serverside-applied$/gm;

const project = ([what, module, version, path]) => ({
  what: `definitions of ${what}`,
  version,
  async run({ goModule, execute, env }) {
    const dir = await goModule(`${module}@${version}`);
    const names = [];
    const refused = [];
    const warnings = new Set();
    for (const file of files(join(dir, path))) {
      const { code, text } = await execute('kubectl', ['apply', '--server-side', '-f', file], { env });
      names.push(...[...text.matchAll(applied)].map(([, name]) => name));
      for (const [, warning] of text.matchAll(/^Warning: (.*)$/gm)) warnings.add(warning);
      if (code !== 0) refused.push(text.trim().slice(0, 300));
    }
    if (refused.length > 0) return { result: 'fails', differs: refused[0], log: refused.join('\n') };
    if (names.length === 0) throw new Error(`no definitions in ${path}`);
    const ready = names.map((name) => `crd/${name}`);
    const waited = await execute('kubectl', ['wait', '--for=condition=Established', '--timeout=60s', ...ready], { env });
    await execute('kubectl', ['delete', '--wait=false', ...ready], { env });
    if (waited.code !== 0) throw new Error(waited.text.slice(0, 400));
    return { result: 'works', differs: warnings.size > 0 ? `${names.length} definitions; warns: ${[...warnings].slice(0, 2).join('; ')}` : `${names.length} definitions` };
  },
});

export default { name: 'CustomResourceDefinitions', needs: ['go'], runs: projects.map(project) };
