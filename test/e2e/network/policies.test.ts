// Network policies with real packets, on two real nodes: who reaches whom, directly and through Services, on one node and across two.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, TestCluster } from '../cluster/harness.ts';

const image = 'sagong.local/policies:1';
const table = 'kube-network-policy';
const namespaces = ['east', 'west'] as const;
const names = ['a', 'b', 'c'] as const;
const all = namespaces.flatMap((namespace) => names.map((name) => `${namespace}/${name}`));
/** Pods of one name are on one node, so that every policy is met on a node and across. */
const nodeOf = (name: string): string => (name === 'b' ? 'node-2' : 'node-1');
let cluster: TestCluster;
const addresses = new Map<string, string>();
const services = new Map<string, string>();

const pod = (namespace: string, name: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: ${namespace}, labels: {pod: ${name}}}
spec:
  nodeName: ${nodeOf(name)}
  terminationGracePeriodSeconds: 0
  containers:
  - name: web
    image: ${image}
    imagePullPolicy: Never
    command: [sh, -c]
    args: ["mkdir /www; echo ${namespace}/${name} > /www/who; httpd -p 81 -h /www; exec httpd -f -p 80 -h /www"]
    ports: [{name: web, containerPort: 80}, {name: more, containerPort: 81}]
    readinessProbe: {httpGet: {path: /who, port: web}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: ${namespace}}
spec: {selector: {pod: ${name}}, ports: [{name: web, port: 80}, {name: more, port: 81}]}
---`;

const policy = (namespace: string, name: string, spec: object): Promise<void> =>
  cluster.apply(
    JSON.stringify({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name, namespace }, spec }),
  );

/** Which of the addresses answer one pod; all are asked at once. */
async function reached(from: string, to: ReadonlyMap<string, string>, port: number): Promise<string[]> {
  const [namespace = '', name = ''] = from.split('/');
  const asks = [...to.values()].map(
    (address) => `(busybox timeout 2 busybox wget -qO- http://${address}:${port}/who 2>/dev/null || true) &`,
  );
  return (await cluster.kubectl('exec', '-n', namespace, name, '--', 'sh', '-c', `${asks.join('\n')}\nwait`))
    .trim()
    .split('\n')
    .sort();
}
type Allowed = (from: string, to: string) => boolean;
/** Waits until exactly this holds, by address and by Service. */
async function expectReach(allowed: Allowed, port = 80): Promise<void> {
  const wanted = (from: string): string[] => all.filter((to) => allowed(from, to));
  let last = '';
  await eventually('the matrix', async () => {
    const rows = await Promise.all(
      all.flatMap((from) =>
        [addresses, services].map(async (to) => ({
          from,
          is: (await reached(from, to, port)).filter(Boolean),
          wanted: wanted(from),
        })),
      ),
    );
    const wrong = rows.filter((row) => JSON.stringify(row.is) !== JSON.stringify(row.wanted));
    last = JSON.stringify(wrong);
    if (wrong.length > 0) throw new Error(last);
    return true;
  });
}
const everything: Allowed = () => true;
const inNamespace = (name: string, of: string): boolean => of.startsWith(`${name}/`);
const rulesOf = async (node: number): Promise<string> => (await cluster.inNode(node, 'nft', 'list', 'ruleset')).stdout;

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '2', '--uplink', 'none', '--dns-upstream', '127.0.0.1:9');
  await cluster.loadBusybox(image);
  for (const name of namespaces) await cluster.kubectl('create', 'namespace', name);
  for (const name of namespaces)
    await eventually('a service account', () => cluster.kubectl('get', 'serviceaccount', '-n', name, 'default'));
  await cluster.apply(namespaces.flatMap((namespace) => names.map((name) => pod(namespace, name))).join(''));
  for (const namespace of namespaces) {
    await cluster.kubectl('wait', '-n', namespace, 'pod', '--all', '--for', 'condition=Ready', '--timeout', '60s');
    for (const name of names) {
      const read = (what: string, path: string) =>
        cluster.kubectl('get', '-n', namespace, what, name, '-o', `jsonpath={${path}}`);
      addresses.set(`${namespace}/${name}`, await read('pod', '.status.podIP'));
      services.set(`${namespace}/${name}`, await read('service', '.spec.clusterIP'));
    }
  }
});
afterAll(async () => {
  await cluster?.destroy();
});
afterEach(async () => {
  for (const name of namespaces) await cluster.kubectl('delete', '-n', name, 'networkpolicies', '--all');
});

describe('who reaches whom', () => {
  it('is everybody without policies, and there are no rules', async () => {
    await expectReach(everything);
    expect(await rulesOf(1)).not.toContain(table);
  });

  it('is nobody but the pod itself and its node under a policy that allows nothing', async () => {
    await policy('east', 'deny', { podSelector: {}, policyTypes: ['Ingress'] });
    await expectReach((from, to) => from === to || inNamespace('west', to));
    const own = await cluster.inNode(1, 'busybox', 'wget', '-qO-', `http://${addresses.get('east/a')}/who`);
    expect(own.stdout.trim()).toBe('east/a');
    // Probes come from the node.
    expect(
      await cluster.kubectl('get', 'pod', '-n', 'east', '-o', 'jsonpath={.items[*].status.containerStatuses[*].ready}'),
    ).toBe('true true true');
    await cluster.kubectl('delete', '-n', 'east', 'networkpolicy', 'deny');
    await expectReach(everything);
    await eventually('no rules', async () => !(await rulesOf(1)).includes(table));
  });

  it('follows selectors of pods and namespaces, and their labels', async () => {
    await policy('east', 'from-west-b', {
      podSelector: { matchLabels: { pod: 'a' } },
      ingress: [
        {
          from: [
            {
              namespaceSelector: { matchLabels: { team: 'west' } },
              podSelector: { matchExpressions: [{ key: 'pod', operator: 'In', values: ['b'] }] },
            },
          ],
        },
      ],
    });
    const closed: Allowed = (from, to) => from === to || to !== 'east/a';
    await expectReach(closed);
    await cluster.kubectl('label', 'namespace', 'west', 'team=west');
    await expectReach((from, to) => closed(from, to) || from === 'west/b');
    await cluster.kubectl('label', 'pod', '-n', 'west', 'c', '--overwrite', 'pod=b');
    await eventually('the new label counts', async () => (await reached('west/c', addresses, 80)).includes('east/a'));
    await cluster.kubectl('label', 'pod', '-n', 'west', 'c', '--overwrite', 'pod=c');
    await cluster.kubectl('label', 'namespace', 'west', 'team-');
    await expectReach(closed);
  });

  it('depends on the port, by number, range and name', async () => {
    await policy('west', 'ports', {
      podSelector: { matchLabels: { pod: 'b' } },
      ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 'more' }] }, { ports: [{ port: 75, endPort: 80 }] }],
    });
    await expectReach((from, to) => from === to || to !== 'west/b' || inNamespace('west', from), 81);
    await expectReach(everything, 80);
  });

  it('is bounded for what leaves a pod, too, and both directions must agree', async () => {
    await policy('west', 'out', {
      podSelector: {},
      policyTypes: ['Egress'],
      egress: [
        { to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'east' } } }], ports: [{ port: 'web' }] },
      ],
    });
    const out: Allowed = (from, to) => from === to || inNamespace('east', from) || inNamespace('east', to);
    await expectReach(out);
    await expectReach((from, to) => from === to || inNamespace('east', from), 81);
    await policy('east', 'in', { podSelector: { matchLabels: { pod: 'c' } }, ingress: [{ from: [{ podSelector: {} }] }] });
    await expectReach((from, to) => out(from, to) && !(to === 'east/c' && inNamespace('west', from)));
  });

  it('is told with its reasons by `sagong explain`', async () => {
    await policy('east', 'blocks', {
      podSelector: { matchLabels: { pod: 'a' } },
      ingress: [{ from: [{ podSelector: { matchLabels: { pod: 'b' } } }], ports: [{ port: 80 }] }],
    });
    const told = async (what: string): Promise<string> => (await cluster.sagong('explain', what, '-n', 'east')).stdout;
    expect(await told('pod/a')).toContain('from pods pod=b of namespace east, TCP 80 (policy blocks): now east/b');
    expect(await told('pod/b')).toContain('none selects it, it is reached by everybody');
    expect(await told('networkpolicy/blocks')).toContain('selects pods pod=a of east: now east/a');
  });

  it('follows blocks of addresses with exceptions', async () => {
    await policy('east', 'blocks', {
      podSelector: { matchLabels: { pod: 'a' } },
      ingress: [{ from: [{ ipBlock: { cidr: '10.244.0.0/16', except: [`${addresses.get('west/b')}/32`] } }] }],
    });
    await expectReach((from, to) => to !== 'east/a' || from !== 'west/b');
  });
});

describe('a pod', () => {
  it('is under its policies before its first container starts', async () => {
    await policy('east', 'deny', { podSelector: {}, policyTypes: ['Egress'] });
    await cluster.apply(`
apiVersion: v1
kind: Pod
metadata: {name: early, namespace: east}
spec:
  nodeName: node-1
  restartPolicy: Never
  containers:
  - name: ask
    image: ${image}
    imagePullPolicy: Never
    command: [sh, -c, "for i in 1 2 3; do busybox timeout 1 busybox wget -qO- http://${addresses.get('west/a')}/who && echo REACHED; done; true"]
`);
    await cluster.kubectl('wait', '-n', 'east', 'pod/early', '--for', 'jsonpath={.status.phase}=Succeeded', '--timeout', '60s');
    expect(await cluster.kubectl('logs', '-n', 'east', 'early')).not.toMatch(/REACHED|west/);
    await cluster.kubectl('delete', 'pod', '-n', 'east', 'early');
  });

  it('loses a connection that a new policy does not allow, and keeps one that it does', async () => {
    const slow = (from: string): string[] => [
      ...['exec', '-n', 'west', from, '--', 'sh', '-c'],
      `(sleep 600) | busybox nc ${addresses.get('east/a')} 80 >/dev/null; echo ended`,
    ];
    const children = ['b', 'c'].map((from) => cluster.kubectlInBackground(...slow(from)));
    try {
      const tracked = async (from: string): Promise<boolean> =>
        (
          await cluster.inNode(1, 'conntrack', '-L', '-s', addresses.get(from) ?? '', '-d', addresses.get('east/a') ?? '')
        ).stdout.includes('ESTABLISHED');
      await eventually('both are connected', async () => (await tracked('west/b')) && (await tracked('west/c')));
      await policy('east', 'only-c', {
        podSelector: { matchLabels: { pod: 'a' } },
        ingress: [{ from: [{ namespaceSelector: {}, podSelector: { matchLabels: { pod: 'c' } } }] }],
      });
      await expectReach((from, to) => to !== 'east/a' || from === 'east/a' || from.endsWith('/c'));
    } finally {
      for (const child of children) child.kill();
    }
  });
});

describe('the rules', () => {
  it("outlive the node's agent, and are brought up to date by the next one", async () => {
    await policy('east', 'deny', { podSelector: {}, policyTypes: ['Ingress'] });
    const denied: Allowed = (from, to) => from === to || inNamespace('west', to);
    await expectReach(denied);
    const agent = await cluster.agentPid('node-1');
    process.kill(agent, 'SIGKILL');
    expect(await rulesOf(1)).toContain(table);
    await cluster.kubectl('delete', '-n', 'east', 'networkpolicy', 'deny');
    await expectReach(everything);
    await policy('west', 'deny', { podSelector: {}, policyTypes: ['Ingress'] });
    await expectReach((from, to) => from === to || inNamespace('east', to));
  });

  it('come back where somebody takes them away, at the next change', async () => {
    await policy('east', 'deny', { podSelector: {}, policyTypes: ['Ingress'] });
    const denied: Allowed = (from, to) => from === to || inNamespace('west', to);
    await expectReach(denied);
    for (const node of [1, 2]) await cluster.inNode(node, 'nft', 'delete', 'table', 'inet', table);
    await policy('east', 'again', { podSelector: {}, policyTypes: ['Ingress'] });
    await expectReach(denied);
  });

  it('go with --network-policy none, and come back with nftables', async () => {
    await policy('east', 'deny', { podSelector: {}, policyTypes: ['Ingress'] });
    await expectReach((from, to) => from === to || inNamespace('west', to));
    await cluster.sagong('stop');
    await cluster.up('--network-policy', 'none');
    const ready = (): Promise<string> =>
      cluster.kubectl('wait', '-n', 'east', 'pod', '--all', '--for', 'condition=Ready', '--timeout', '60s');
    await ready();
    await eventually('no rules', async () => !(await rulesOf(1)).includes(table));
    await cluster.sagong('stop');
    await cluster.up('--network-policy', 'nftables');
    await ready();
    await eventually('rules', async () => (await rulesOf(1)).includes(table));
  });
});
