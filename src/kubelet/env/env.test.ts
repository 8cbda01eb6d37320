import { describe, expect, it } from 'vitest';
import type { Pod, Service } from '#api/core/v1';
import { fieldValue, formatMap, resourceValue } from './downward.ts';
import { expand } from './expand.ts';
import { serviceEnvironment } from './service-links.ts';

it.each([
  ['$(A)-$(B)', 'one-$(B)'],
  ['$$(A)', '$(A)'],
  ['$(A', '$(A'],
  ['cost $5 $', 'cost $5 $'],
  ['$(A)$(A)', 'oneone'],
])('expands %s', (text, expected) => {
  expect(expand(text, (name) => (name === 'A' ? 'one' : undefined))).toBe(expected);
});

describe('downward API', () => {
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'ns', labels: { b: '2', a: 'x "y"' }, annotations: { 'k.io/x': 'v' } },
    spec: {
      nodeName: 'n',
      containers: [{ name: 'app', resources: { limits: { cpu: '1500m' }, requests: { memory: '100Mi' } } }],
    },
  };
  const context = { podIPs: ['10.0.0.1', 'fd00::1'], hostIPs: ['1.1.1.1'], allocatable: { cpu: '4', memory: '1Gi' } };
  it('gives fields', () => {
    const value = (fieldPath: string): string => fieldValue({ fieldPath }, pod, context);
    expect(value("metadata.annotations['k.io/x']")).toBe('v');
    expect(value('status.podIPs')).toBe('10.0.0.1,fd00::1');
    expect(value('spec.nodeName')).toBe('n');
    expect(formatMap(pod.metadata.labels)).toBe('a="x \\"y\\""\nb="2"');
    expect(() => value('spec.nope')).toThrow('unsupported fieldPath: spec.nope');
  });
  it('gives resources, rounded up, with the node for missing limits', () => {
    const value = (resource: string, divisor?: string): string =>
      resourceValue({ resource, divisor }, pod, pod.spec?.containers[0], context);
    expect(value('limits.cpu')).toBe('2');
    expect(value('limits.cpu', '1m')).toBe('1500');
    expect(value('requests.memory', '1Mi')).toBe('100');
    expect(value('limits.memory', '1Gi')).toBe('1');
  });
});

it('names services as Docker links did', () => {
  const service = (namespace: string, name: string, clusterIP: string): Service => ({
    metadata: { name, namespace },
    spec: { clusterIP, ports: [{ name: 'web-ui', port: 80, protocol: 'TCP' }] },
  });
  const all = [
    service('default', 'kubernetes', '10.96.0.1'),
    service('ns', 'my-app', '10.96.0.9'),
    service('ns', 'headless', 'None'),
  ];
  const links = serviceEnvironment(all, 'ns', true);
  expect(Object.fromEntries(links)).toMatchObject({
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
    MY_APP_SERVICE_PORT: '80',
    MY_APP_SERVICE_PORT_WEB_UI: '80',
    MY_APP_PORT: 'tcp://10.96.0.9:80',
    MY_APP_PORT_80_TCP_ADDR: '10.96.0.9',
  });
  expect([...links.keys()].some((name) => name.startsWith('HEADLESS'))).toBe(false);
  expect([...serviceEnvironment(all, 'ns', false).keys()].every((name) => name.startsWith('KUBERNETES_'))).toBe(true);
});
