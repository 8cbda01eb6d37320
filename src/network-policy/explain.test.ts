import { describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { NetworkPolicy } from '#api/networking/v1';
import { explainPod, explainPolicy } from './explain.ts';

const pod = (namespace: string, name: string, labels: Record<string, string>, spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name, namespace, labels },
  spec: { nodeName: 'node-1', containers: [], ...spec },
  status: { phase: 'Running', podIP: '10.244.1.1' },
});
const web = pod('shop', 'web', { app: 'web' });
const world = {
  pods: [web, pod('shop', 'db', { app: 'db' }), pod('ops', 'scraper', {}), pod('ops', 'agent', {}, { hostNetwork: true })],
  namespaces: [{ metadata: { name: 'shop' } }, { metadata: { name: 'ops', labels: { team: 'ops' } } }],
};
const policy: NetworkPolicy = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    podSelector: { matchLabels: { app: 'web' } },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { team: 'ops' } } }],
        ports: [{ protocol: 'TCP', port: 8000, endPort: 8080 }],
      },
      { from: [{ ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.7/32'] } }] },
    ],
  },
};
const deny: NetworkPolicy = { metadata: { name: 'deny', namespace: 'shop' }, spec: { podSelector: {}, policyTypes: ['Egress'] } };

describe('an explanation', () => {
  it('of a pod says who reaches it, whom it reaches, and by which policy', () => {
    expect(explainPod(web, { ...world, policies: [policy, deny] })).toEqual([
      'network policies, ingress: selected by web; it is reached by itself, its node, and only:',
      '  from all pods of namespaces team=ops, TCP 8000-8080 (policy web): now ops/scraper',
      '  from addresses 192.0.2.0/24 except 192.0.2.7/32, any port (policy web)',
      'network policies, egress: selected by deny; it reaches itself, its node, and nobody else',
    ]);
  });
  it('of a pod that no policy selects says that it is open', () => {
    expect(explainPod(world.pods[1] as Pod, { ...world, policies: [policy] })).toEqual([
      'network policies, ingress: none selects it, it is reached by everybody',
      'network policies, egress: none selects it, it reaches everybody',
    ]);
  });
  it('of a pod on the network of its node says that none counts', () => {
    expect(explainPod(world.pods[3] as Pod, { ...world, policies: [deny] })).toEqual([
      'network policies: none counts for a pod on the network of its node',
    ]);
  });
  it('of a policy says whom it selects now and what it allows', () => {
    expect(explainPolicy(policy, { ...world, policies: [policy] })).toEqual([
      'selects pods app=web of shop: now shop/web',
      'ingress: allows only what any policy of the pods allows, this one:',
      '  from all pods of namespaces team=ops, TCP 8000-8080 (policy web): now ops/scraper',
      '  from addresses 192.0.2.0/24 except 192.0.2.7/32, any port (policy web)',
      'egress: says nothing about it',
    ]);
    expect(explainPolicy(deny, { ...world, policies: [deny] })).toEqual([
      'selects all pods of shop: now shop/web, shop/db',
      'ingress: says nothing about it',
      'egress: allows nothing',
    ]);
  });
});
