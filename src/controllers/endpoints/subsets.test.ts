import { expect, it } from 'vitest';
import type { Pod, Service, ServicePort } from '#api/core/v1';
import { findPort, servedPorts } from '#component-helpers/endpoints';
import { subsetsOf } from './subsets.ts';

const serviceOf = (ports: ServicePort[]): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'ns' },
  spec: { clusterIP: '10.96.0.7', ports, selector: { a: 'b' } },
});
const podOf = (at: number, named: Record<string, number> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `p${at}`, namespace: 'ns', uid: `u${at}` },
  spec: {
    nodeName: 'n',
    containers: [
      { name: 'c', image: 'x', ports: Object.entries(named).map(([name, containerPort]) => ({ name, containerPort })) },
      { name: 'd', image: 'x', ports: [{ name: 'late', containerPort: 9 }] },
    ],
  },
  status: { podIPs: [{ ip: `10.244.${at >> 8}.${at & 255}` }], conditions: [{ type: 'Ready', status: 'True' }] },
});

it('groups addresses by the ports that they have in common', () => {
  const service = serviceOf([
    { name: 'fixed', port: 80, targetPort: 8080 },
    { name: 'web', port: 81, targetPort: 'web' },
    { name: 'late', port: 82, targetPort: 'late' },
    { name: 'none', port: 83, targetPort: 'none' },
  ]);
  const pods = [podOf(1, { web: 1 }), podOf(2, { web: 2 }), podOf(3), podOf(4, { web: 1, late: 9 })];
  const seen = subsetsOf(service, pods).map(({ addresses, ports }) => [
    addresses?.map(({ targetRef }) => targetRef?.name),
    ports?.map(({ name, port }) => `${name} ${port}`),
  ]);
  expect(seen).toEqual([
    [
      ['p1', 'p2', 'p3', 'p4'],
      ['fixed 8080', 'late 9'],
    ],
    [['p1', 'p4'], ['web 1']],
    [['p2'], ['web 2']],
  ]);
  for (const pod of pods)
    expect(servedPorts(service)(pod)).toEqual(
      (service.spec?.ports ?? []).flatMap((port) => {
        const number = findPort(pod, port);
        return number === undefined ? [] : [{ port, number }];
      }),
    );
});

it('looks at each port of a Service a few times, however many pods there are', () => {
  let reads = 0;
  const ports = Array.from({ length: 100 }, (_, at): ServicePort => {
    const targetPort = at % 2 ? 'web' : at + 1;
    return {
      port: at + 1,
      get name() {
        reads++;
        return `p${at}`;
      },
      get targetPort() {
        reads++;
        return targetPort;
      },
    };
  });
  const pods = Array.from({ length: 200 }, (_, at) => podOf(at, { web: 1 + (at % 2) }));
  const subsets = subsetsOf(serviceOf(ports), pods);
  expect(subsets.map(({ addresses, ports }) => [addresses?.length, ports?.length])).toEqual([
    [200, 50],
    [100, 50],
    [100, 50],
  ]);
  expect(reads).toBeLessThan(10 * ports.length);
});
