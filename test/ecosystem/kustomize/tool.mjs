// kustomize: what it builds is applied, changed and pruned.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const version = 'v5.8.2';

const files = {
  'base/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: nginx, envFrom: [{configMapRef: {name: settings}}]}]
`,
  'base/kustomization.yaml': `resources: [deployment.yaml]
configMapGenerator: [{name: settings, literals: [colour=white]}]
`,
  'overlay/kustomization.yaml': `namespace: kustomized
namePrefix: big-
resources: [../base, namespace.yaml]
labels: [{pairs: {team: sails}, includeSelectors: true, includeTemplates: true}]
images: [{name: nginx, newTag: "2"}]
replicas: [{name: web, count: 3}]
configMapGenerator: [{name: settings, behavior: merge, literals: [size=large]}]
patches:
- target: {kind: Deployment}
  patch: '[{"op": "add", "path": "/spec/template/spec/containers/0/args", "value": ["-v"]}]'
`,
  'overlay/namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: kustomized}\n',
};

const run = {
  what: 'an overlay with prefix, labels, images, replicas, generated ConfigMaps and patches: applied, changed, the old ConfigMap pruned',
  version,
  async run({ goProgram, must, work, kubectl, apply }) {
    const program = await goProgram({ module: 'sigs.k8s.io/kustomize/kustomize/v5', version, name: 'kustomize' });
    const folder = join(work, 'kustomize');
    const write = (file, text) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    };
    for (const [file, text] of Object.entries(files)) write(file, text);
    const prune = ['--prune', '-l', 'team=sails', '--prune-allowlist=core/v1/ConfigMap'];
    const build = async () => apply(await must(program, ['build', join(folder, 'overlay')]), ...prune);
    const maps = async () => (await kubectl('get', 'configmaps', '-n', 'kustomized', '-l', 'team=sails', '-o', 'jsonpath={.items[*].data}')).trim();
    await build();
    await kubectl('rollout', 'status', '-n', 'kustomized', 'deployment/big-web', '--timeout=120s');
    if ((await maps()) !== '{"colour":"white","size":"large"}') throw new Error(await maps());
    const shown = await kubectl('get', 'pods', '-n', 'kustomized', '-l', 'team=sails,app=web', '-o', 'jsonpath={range .items[*]}{.spec.containers[0].image} {.spec.containers[0].args}{"\\n"}{end}');
    if (shown !== 'nginx:2 ["-v"]\n'.repeat(3)) throw new Error(shown);
    write('overlay/kustomization.yaml', files['overlay/kustomization.yaml'].replace('size=large', 'size=small'));
    await build();
    await kubectl('rollout', 'status', '-n', 'kustomized', 'deployment/big-web', '--timeout=120s');
    if ((await maps()) !== '{"colour":"white","size":"small"}') throw new Error(`after the change: ${await maps()}`);
    await kubectl('delete', 'namespace', 'kustomized');
    return { result: 'works' };
  },
};

export default { name: 'kustomize', needs: ['go', 'kubectl'], runs: [run] };
