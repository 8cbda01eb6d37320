import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Namespace, Pod } from '#api/core/v1';
import type { NetworkPolicy } from '#api/networking/v1';
import { Compiler } from './compiler.ts';
import { podFacts, policyFacts } from './facts.ts';
import { noRules } from './ruleset.ts';
import { Kernel, passes } from './test-support/machine.ts';
import { type Connection, isForwarded, type World } from './test-support/reference.ts';
import { transaction } from './text.ts';

const node = 'node-1';
const keyOf = ({ metadata }: Pod | NetworkPolicy): string => `${metadata.namespace}/${metadata.name}`;

/** Tells a compiler how the world is now. */
function tell(compiler: Compiler, world: World, before: World = { pods: [], namespaces: [], policies: [] }): void {
  for (const pod of before.pods) if (!world.pods.some((one) => keyOf(one) === keyOf(pod))) compiler.setPod(keyOf(pod), undefined);
  for (const pod of world.pods) compiler.setPod(keyOf(pod), podFacts(pod));
  for (const { metadata } of before.namespaces) compiler.setNamespace(metadata.name ?? '', undefined);
  for (const { metadata } of world.namespaces) compiler.setNamespace(metadata.name ?? '', metadata.labels ?? {});
  for (const policy of before.policies) compiler.setPolicy(keyOf(policy), policy.metadata.namespace ?? '', undefined);
  for (const policy of world.policies) compiler.setPolicy(keyOf(policy), policy.metadata.namespace ?? '', policyFacts(policy));
  Array.from(compiler.settle());
}

const pick = <T>(...of: T[]) => fc.constantFrom(...of);
const ips = ['10.244.1.1', '10.244.1.2', '10.244.1.3', '10.244.2.1', '10.244.2.2', '10.0.0.9', '192.0.2.7'];
const labels = fc.dictionary(pick('app', 'tier'), pick('a', 'b'), { maxKeys: 2 });
const selector = fc.oneof(
  fc.record({ matchLabels: labels }),
  fc.record({
    matchExpressions: fc.array(
      fc.oneof(
        fc.record({ key: pick('app', 'tier'), operator: pick('In', 'NotIn'), values: fc.subarray(['a', 'b'], { minLength: 1 }) }),
        fc.record({ key: pick('app', 'tier'), operator: pick('Exists', 'DoesNotExist') }),
      ),
      { maxLength: 2 },
    ),
  }),
);
const names = ['x', 'y', 'z'];
const pods = fc
  .array(
    fc.record({
      namespace: pick(...names),
      labels,
      nodeName: pick(node, node, 'node-2'),
      hostNetwork: pick(false, false, false, true),
      phase: pick('Running', 'Running', 'Running', 'Succeeded'),
      ports: fc.array(
        fc.record({ name: pick('web', 'dns'), protocol: pick('TCP', 'UDP', 'SCTP'), containerPort: pick(80, 81, 53) }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 5 },
  )
  .map((all) =>
    all.map(
      ({ namespace, labels: own, nodeName, hostNetwork, phase, ports }, index): Pod => ({
        metadata: { name: `pod-${index}`, namespace, labels: own },
        spec: { nodeName, hostNetwork, containers: [{ name: 'c', ports }] },
        status: { phase, podIP: ips[index] as string },
      }),
    ),
  );
const namespaces = fc
  .array(labels, { minLength: 3, maxLength: 3 })
  .map((all) => all.map((own, index): Namespace => ({ metadata: { name: names[index] as string, labels: own } })));
const peer = fc.oneof(
  fc.record({ podSelector: selector }),
  fc.record({ namespaceSelector: selector }),
  fc.record({ podSelector: selector, namespaceSelector: selector }),
  fc.record({
    ipBlock: fc.record({
      cidr: pick('0.0.0.0/0', '10.244.0.0/16', '10.0.0.0/8', '192.0.2.7/32'),
      except: fc.subarray(['10.244.1.0/24', '10.244.1.2/32', '10.244.2.0/31', '10.0.0.9/32']),
    }),
  }),
);
const port = fc.oneof(
  fc.record({ protocol: pick('TCP', 'UDP', 'SCTP') }),
  fc.record({ protocol: pick('TCP', 'UDP', 'SCTP'), port: pick<number | string>(80, 81, 53, 'web', 'dns') }),
  fc.record({ protocol: pick('TCP', 'UDP'), port: fc.constant(53), endPort: pick(53, 80) }),
);
const rules = fc.array(fc.record({ peers: fc.array(peer, { maxLength: 2 }), ports: fc.array(port, { maxLength: 2 }) }), {
  maxLength: 2,
});
const policies = fc
  .array(
    fc.record({
      namespace: pick(...names),
      podSelector: selector,
      policyTypes: fc.subarray(['Ingress', 'Egress'], { minLength: 1 }),
      ingress: rules,
      egress: rules,
    }),
    { maxLength: 4 },
  )
  .map((all) =>
    all.map(
      ({ namespace, ingress, egress, ...spec }, index): NetworkPolicy => ({
        metadata: { name: `policy-${index}`, namespace },
        spec: {
          ...spec,
          ingress: ingress.map(({ peers, ports }) => ({ from: peers, ports })),
          egress: egress.map(({ peers, ports }) => ({ to: peers, ports })),
        },
      }),
    ),
  );
const worlds: fc.Arbitrary<World> = fc.record({ pods, namespaces, policies });
const connections: readonly Connection[] = ips.flatMap((from) =>
  ips.flatMap((to) => [
    ...(['TCP', 'UDP', 'SCTP'] as const).flatMap((protocol) =>
      [53, 80, 81].map((at): Connection => ({ from, to, protocol, port: at })),
    ),
    { from, to, protocol: 'ICMP' as const, port: 0 },
  ]),
);

describe('the rules of a node', () => {
  it('let through what the API says, and nothing else', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const compiler = new Compiler(node);
        tell(compiler, world);
        const ruleset = compiler.ruleset();
        for (const connection of connections)
          expect({ ...connection, passes: passes(ruleset, connection) }).toEqual({
            ...connection,
            passes: isForwarded(world, node, connection),
          });
      }),
      { numRuns: 150 },
    );
  });

  it('come to the same whatever the way, and every step is one that nft takes', () => {
    fc.assert(
      fc.property(fc.array(worlds, { minLength: 1, maxLength: 4 }), (way) => {
        const compiler = new Compiler(node);
        const kernel = new Kernel();
        let applied = noRules;
        let before: World | undefined;
        for (const world of way) {
          tell(compiler, world, before);
          kernel.apply(transaction(applied, compiler.ruleset()));
          [applied, before] = [compiler.ruleset(), world];
        }
        const fresh = new Kernel();
        const anew = new Compiler(node);
        tell(anew, way.at(-1) as World);
        fresh.apply(transaction(undefined, anew.ruleset()));
        expect(kernel.state()).toEqual(fresh.state());
      }),
      { numRuns: 150 },
    );
  });

  it('stay as they are where nothing changed', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const compiler = new Compiler(node);
        tell(compiler, world);
        const before = compiler.ruleset();
        tell(compiler, structuredClone(world));
        expect(transaction(before, compiler.ruleset())).toBe('');
      }),
      { numRuns: 50 },
    );
  });
});

const pod = (name: string, own: Record<string, string>, ip: string, nodeName = node): Pod => ({
  metadata: { name, namespace: 'x', labels: own },
  spec: { nodeName, containers: [] },
  status: { phase: 'Running', podIP: ip },
});

describe('one more pod', () => {
  it('that a policy knows as a peer is one element more', () => {
    const policy: NetworkPolicy = {
      metadata: { name: 'p', namespace: 'x' },
      spec: { podSelector: { matchLabels: { app: 'a' } }, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }] }] },
    };
    const world = (many: number): World => ({
      pods: Array.from({ length: many }, (_, index) =>
        pod(`p${index}`, index ? {} : { app: 'a' }, `10.244.${index >> 8}.${index & 255}`),
      ),
      namespaces: [{ metadata: { name: 'x' } }],
      policies: [policy],
    });
    const compiler = new Compiler(node);
    tell(compiler, world(1_000));
    const before = compiler.ruleset();
    tell(compiler, world(1_001));
    const after = compiler.ruleset();
    expect(transaction(before, after)).toMatch(/^add element inet kube-network-policy peers-\w+ \{ 10\.244\.3\.232 \}\n$/);
    expect([...after.chains.values()].flatMap(({ rules: all }) => all).length).toBeLessThan(20);
  });
});

describe('odd objects', () => {
  const hostile = 'x"; flush ruleset; add table inet evil; #\n}';
  it('bring nothing of their own into the input of nft', () => {
    const odd = {
      metadata: { name: hostile, namespace: hostile },
      spec: {
        podSelector: {},
        policyTypes: ['Ingress', 'Egress', hostile],
        ingress: [
          { from: [{ ipBlock: { cidr: hostile, except: [hostile] } }, { podSelector: { matchLabels: { [hostile]: hostile } } }] },
          { ports: [{ protocol: hostile, port: 80 }, { port: hostile }, { port: -1 }, { port: 80, endPort: 2 }] },
        ],
        egress: [{ to: [{}], ports: [null, { port: 1.5 }].filter(Boolean) }],
      },
    } as unknown as NetworkPolicy;
    const own = { ...pod('p', { [hostile]: hostile }, '10.244.1.1') };
    own.metadata = { ...own.metadata, name: hostile, namespace: hostile };
    own.spec = { ...own.spec, containers: [{ name: 'c', ports: [{ name: hostile, containerPort: 80 }] }] };
    const compiler = new Compiler(node);
    tell(compiler, { pods: [own], namespaces: [{ metadata: { name: hostile } }], policies: [odd] });
    const text = transaction(undefined, compiler.ruleset());
    expect(text).toContain('drop');
    expect(text).not.toMatch(/evil|flush ruleset|"/);
    for (const line of text.trim().split('\n'))
      expect(line).toMatch(/^(add|delete) (table|set|map|chain|rule|element) inet kube-network-policy/);
  });
  it('with null in place of every optional field are read', () => {
    const nulls = { podSelector: null, policyTypes: null, ingress: null, egress: null };
    const rule = { from: null, ports: null, to: null };
    for (const spec of [
      null,
      nulls,
      { ...nulls, ingress: [rule], egress: [rule] },
      { ingress: [{ from: [{ ipBlock: { cidr: null } }] }] },
    ])
      expect(policyFacts({ metadata: { name: 'p', namespace: 'x' }, spec } as unknown as NetworkPolicy).key).toBe('x/p');
    expect(podFacts({ metadata: { name: 'p' }, spec: null, status: null } as unknown as Pod)?.key).toBe('p');
    const bare = { containers: [{ ports: null }], initContainers: null };
    expect(
      podFacts({ metadata: { name: 'p', labels: null }, spec: bare, status: { podIPs: null } } as unknown as Pod)?.ports,
    ).toEqual([]);
  });
  it('allow nothing by what cannot be read', () => {
    const rule = policyFacts({
      metadata: { name: 'p', namespace: 'x' },
      spec: { podSelector: {}, ingress: [{ from: [{}], ports: [{ protocol: 'ICMP' }] }] },
    } as NetworkPolicy).ingress?.[0];
    expect(rule).toMatchObject({ anybody: false, peers: [], blocks: [], anyPort: false, ports: [], named: [] });
  });
});
