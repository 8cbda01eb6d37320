// k9s, used as a person uses it: keys into a terminal, and what the screen shows then.
import { container, loadShell } from '../lib/shell-pods.mjs';
import { terminal } from './terminal.mjs';

const module = 'github.com/derailed/k9s';
const version = 'v0.50.18';

const objects = `apiVersion: v1
kind: Namespace
metadata: {name: k9s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: k9s}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - ${container('web', 'echo a line of the log; mkdir /w; echo served > /w/index.html; exec httpd -f -p 8080 -h /w', ', ports: [{containerPort: 8080}]')}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: k9s}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Secret
metadata: {name: hidden, namespace: k9s}
stringData: {word: opensesame}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sails.k9s.example.com}
spec:
  group: k9s.example.com
  scope: Namespaced
  names: {plural: sails, singular: sail, kind: Sail}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    additionalPrinterColumns: [{name: Colour, type: string, jsonPath: .spec.colour}]
`;

const sail = `apiVersion: k9s.example.com/v1
kind: Sail
metadata: {name: front, namespace: k9s}
spec: {colour: crimson}
`;

/** What is typed, and what the screen has to show then. `keys` come after the command, once the screen shows `first`. */
const views = [
  { what: 'pods', command: 'pods k9s', shows: [/web-\S+ .*1\/1 .*Running/] },
  { what: 'logs', keys: ['l'], shows: [/a line of the log/] },
  { what: 'describe', command: 'pods k9s', first: /pods\(k9s\)\[2\]/i, keys: ['d'], shows: [/Containers:/, /Image: .*sagong\.local\/ecosystem:1/] },
  { what: 'yaml', command: 'pods k9s', first: /pods\(k9s\)\[2\]/i, keys: ['y'], shows: [/apiVersion: v1/, /kind: Pod/, /generateName: web-/] },
  { what: 'containers', command: 'pods k9s', first: /pods\(k9s\)\[2\]/i, keys: ['Enter'], shows: [/containers\(k9s\/web-/i, /web .*sagong\.local\/ecosystem:1 .*Running/] },
  { what: 'deployments', command: 'deployments k9s', shows: [/web .*2\/2 .*2 .*2/] },
  { what: 'pods of a deployment', keys: ['Enter'], shows: [/pods\(k9s\/web\)\[2\]/i] },
  { what: 'services', command: 'services k9s', shows: [/web .*ClusterIP/] },
  { what: 'a secret decoded', command: 'secrets k9s', first: /hidden/, keys: ['x'], shows: [/word: opensesame/] },
  { what: 'events', command: 'events k9s', shows: [/ScalingReplicaSet|Scheduled|Started|Created/] },
  { what: 'nodes', command: 'nodes', shows: [/\[2\]/, /Ready .*v1\.36/] },
  { what: 'namespaces', command: 'namespaces', shows: [/k9s\S* .*Active/, /kube-system\S* .*Active/] },
  { what: 'xray', command: 'xray deployments k9s', shows: [/Xray-Deployments\(k9s\)|XRay-Deployments\(k9s\)/i, /web/] },
  { what: 'pulses', command: 'pulses k9s', shows: [/pulses/i, /Deployments/] },
  { what: 'definitions', command: 'crds', shows: [/sails .*k9s\.example\.com .*Sail/] },
  { what: 'custom objects with their columns', command: 'sails k9s', shows: [/COLOUR/, /front .*crimson/] },
  { what: 'contexts', command: 'contexts', shows: [/contexts\(all\)\[1\]/i] },
  { what: 'roles and what they allow', command: 'clusterroles', first: /Clusterroles/i, keys: ['/', 'cluster-admin', 'Enter', 'Enter'], shows: [/cluster-admin/] },
];

async function look({ show, command, press }, { what, command: text, first, keys = [], shows }) {
  if (text !== undefined) await command(text);
  if (first) await show(`what ${what} starts from`, first);
  for (const key of keys) await press(key);
  await show(what, ...shows);
}

/** Looks again as a person would: k9s drops keys that come while it draws a view anew. */
async function lookAgain(screen, view, times = 3) {
  try {
    await look(screen, view);
  } catch (error) {
    if (times === 1 || view.command === undefined) throw error;
    await lookAgain(screen, view, times - 1);
  }
}

/** A shell in a pod, its deployment scaled, and a pod killed, all by keys. */
async function act(screen, { kubectl, eventually }) {
  const { press, type, show } = screen;
  await lookAgain(screen, { what: 'a shell', command: 'pods k9s', first: /pods\(k9s\)\[2\]/i, keys: ['s'], shows: [/# *$|\$ *$/m] });
  await type('echo $((6*7)) of $HOSTNAME');
  await press('Enter');
  await show('what a shell answers', /42 of web-/);
  await type('exit');
  await press('Enter');
  await show('pods again', /pods\(k9s\)\[2\]/i);
  const before = await kubectl('get', 'pods', '-n', 'k9s', '-o', 'name');
  await press('C-k');
  await eventually('a killed pod is gone', async () => {
    const now = await kubectl('get', 'pods', '-n', 'k9s', '-o', 'name');
    return before.trim().split('\n').some((name) => !now.includes(name));
  });
  await lookAgain(screen, { what: 'the question how many', command: 'deployments k9s', first: /web .*2\/2/, keys: ['s'], shows: [/Replicas/] });
  for (const key of ['BSpace', '3', 'Tab', 'Enter']) await press(key);
  await show('the scaled deployment', /web .*3\/3/);
}

const program = {
  what: `${views.length} views (pods, logs, describe, yaml, events, nodes, xray, pulses, definitions, ...), a shell, scaling, killing, by keys in a terminal`,
  version,
  async run(context) {
    const { goProgram, kubectl, apply } = context;
    const binary = await goProgram({ module, version, name: 'k9s' });
    await loadShell(context);
    await apply(objects);
    await kubectl('wait', '--for=condition=Established', 'crd/sails.k9s.example.com', '--timeout=60s');
    await apply(sail);
    await kubectl('rollout', 'status', '-n', 'k9s', 'deployment/web', '--timeout=120s');
    const screen = await terminal(context, binary);
    try {
      for (const view of views) await lookAgain(screen, view);
      await act(screen, context);
      return { result: 'works' };
    } finally {
      await screen.close();
      await kubectl('delete', 'namespace/k9s', 'crd/sails.k9s.example.com', '--wait=false');
    }
  },
};

export default { name: 'k9s', needs: ['go', 'kubectl', 'tmux', 'busybox'], cluster: 'containers', runs: [program] };
