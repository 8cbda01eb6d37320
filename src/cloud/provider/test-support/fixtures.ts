// Objects of a cluster for this folder's tests.
import type { Node, Service } from '#cloud-provider';

export const nodeNamed = (name: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-of-${name}` } });

/** A Service of type LoadBalancer as the apiserver stores it. */
export const serviceNamed = (name: string, number: number, spec: Partial<Service['spec']> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default', uid: `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000` },
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ipFamilies: ['IPv4'],
    ports: [{ protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30_000 + number }],
    ...spec,
  },
  status: { loadBalancer: {} },
});
