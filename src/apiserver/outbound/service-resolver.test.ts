import { expect, test } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import { seededRng } from '#utils';
import { MemoryCluster } from '../registry/test-support/memory-cluster.ts';
import { byClusterIp, byEndpoint, withLoopback } from './service-resolver.ts';

const cluster = new MemoryCluster();
const put = (group: string, resource: string, value: object) => cluster.put(group, resource, value as UnknownObject);
const service = (name: string, spec: object) => put('', 'services', { metadata: { name, namespace: 'ns' }, spec });
const slice = (name: string, of: string, addressType: string, endpoints: object[], port: number) =>
  put('discovery.k8s.io', 'endpointslices', {
    metadata: { name, namespace: 'ns', labels: { 'kubernetes.io/service-name': of } },
    addressType,
    endpoints,
    ports: [{ name: 'https', port }],
  });
const ports = [{ name: 'https', port: 443 }];
service('web', { clusterIP: '10.0.0.1', ports, ipFamilies: ['IPv6'] });
service('six', { type: 'NodePort', clusterIP: 'fd00::1', ports });
service('headless', { clusterIP: 'None', ports });
service('named', { type: 'ExternalName', externalName: 'example.com' });
slice('a', 'web', 'IPv4', [{ addresses: ['192.0.2.1'] }], 8443);
slice('b', 'web', 'IPv6', [{ addresses: ['2001:db8::1'], conditions: { ready: false } }, { addresses: ['2001:db8::2'] }], 9443);
slice('c', 'headless', 'IPv4', [{ addresses: ['192.0.2.3'], conditions: { ready: false } }], 8443);

const outcome = (resolve: () => string): string => {
  try {
    return resolve();
  } catch (error) {
    return (error as Error).message;
  }
};

test.each([
  ['web', 443, '10.0.0.1:443'],
  ['web', 80, 'no service port 80 found for service "web"'],
  ['six', 443, '[fd00::1]:443'],
  ['headless', 443, 'cannot route to service with ClusterIP "None"'],
  ['named', 8080, 'example.com:8080'],
  ['none', 443, 'service "none" not found'],
])('by cluster IP %s:%i is %s', (name, port, wanted) => {
  expect(outcome(() => byClusterIp(cluster)('ns', name, port))).toBe(wanted);
});

test.each([
  // The ready one of the Service's first family.
  ['web', 443, '[2001:db8::2]:9443'],
  ['web', 80, 'no service port 80 found for service "web"'],
  ['six', 443, 'no endpoints available for service "six"'],
  ['headless', 443, 'no endpoints available for service "headless"'],
  ['named', 443, 'unsupported service type "ExternalName"'],
])('by endpoint %s:%i is %s', (name, port, wanted) => {
  for (const seed of [1, 2, 3]) expect(outcome(() => byEndpoint(cluster, seededRng(seed))('ns', name, port))).toBe(wanted);
});

test('the server itself is reached at once', () => {
  const resolve = withLoopback(byClusterIp(cluster), () => '127.0.0.1:6443');
  expect(resolve('default', 'kubernetes', 443)).toBe('127.0.0.1:6443');
  expect(resolve('ns', 'web', 443)).toBe('10.0.0.1:443');
});
