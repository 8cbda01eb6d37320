// Helm, as released: install with hooks, test, upgrade, rollback, uninstall of a chart of its own making.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { official, releases } from '../lib/official.mjs';

const hook = (kind, name) => `apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Release.Name }}-${name}"
  annotations: {"helm.sh/hook": "${kind}", "helm.sh/hook-delete-policy": before-hook-creation}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: a, image: busybox, command: ["true"]}]}
`;

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec: {containers: [{name: web, image: nginx}]}
`;

const testPod = `apiVersion: v1
kind: Pod
metadata: {name: "{{ .Release.Name }}-test", annotations: {"helm.sh/hook": test}}
spec: {restartPolicy: Never, containers: [{name: a, image: busybox, command: ["true"]}]}
`;

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sails.helm.example.com}
spec:
  group: helm.example.com
  scope: Namespaced
  names: {plural: sails, singular: sail, kind: Sail}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`;

function chart(dir) {
  for (const folder of ['templates', 'crds']) mkdirSync(join(dir, folder), { recursive: true });
  const files = {
    'Chart.yaml': 'apiVersion: v2\nname: boat\nversion: 1.0.0\n',
    'values.yaml': 'replicas: 1\n',
    'crds/sail.yaml': definition,
    'templates/deployment.yaml': deployment,
    'templates/service.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: "{{ .Release.Name }}"}\nspec: {selector: {app: "{{ .Release.Name }}"}, ports: [{port: 80}]}\n',
    'templates/sail.yaml': 'apiVersion: helm.example.com/v1\nkind: Sail\nmetadata: {name: "{{ .Release.Name }}"}\nspec: {colour: white}\n',
    'templates/before.yaml': hook('pre-install,pre-upgrade', 'before'),
    'templates/after.yaml': hook('post-install', 'after'),
    'templates/test.yaml': testPod,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

const helm = (minor) => ({
  what: 'install --wait with hooks and a definition, test, upgrade, rollback, history, uninstall',
  version: releases[minor].helm,
  async run({ must, work, cache, env }) {
    const { helm: program } = await official(cache, minor);
    const { helm: version } = releases[minor];
    const dir = chart(join(work, `chart-${version}`));
    const release = `boat-${version.split('.')[0]}`;
    const run = (...args) => must(program, args, { env: { ...env, HELM_CACHE_HOME: join(work, 'helm') }, timeoutMs: 180_000 });
    await run('install', release, dir, '--wait', '--timeout', '2m');
    const tested = await run('test', release, '--timeout', '2m');
    if (!/Phase:\s+Succeeded/.test(tested)) throw new Error(tested);
    await run('upgrade', release, dir, '--set', 'replicas=2', '--wait', '--timeout', '2m');
    await run('rollback', release, '1', '--wait', '--timeout', '2m');
    const history = await run('history', release);
    if (!/Rollback to 1/.test(history)) throw new Error(history);
    const manifest = await run('get', 'manifest', release);
    if (!manifest.includes('replicas: 1')) throw new Error(manifest);
    await run('uninstall', release, '--wait', '--timeout', '2m');
    const left = await must('kubectl', ['get', 'deployments,services,sails', '-o', 'name'], { env });
    if (left.includes(release)) throw new Error(`left: ${left}`);
    return { result: 'works' };
  },
});

export default { name: 'Helm', needs: ['npm', 'unzip', 'kubectl'], runs: [helm(31), helm(36)] };
