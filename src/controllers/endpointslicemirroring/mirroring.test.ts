import { describe, expect, test } from 'vitest';
import type { Endpoints, EndpointAddress, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { reconcile } from './reconcile.ts';

const service: Service = { metadata: { name: 'x', namespace: 'ns' }, spec: {} };
const endpoints = (addresses: EndpointAddress[], metadata: Partial<Endpoints['metadata']> = {}): Endpoints => ({
  metadata: { name: 'x', namespace: 'ns', uid: 'e', ...metadata },
  subsets: [{ addresses, ports: [{ port: 80, protocol: 'TCP' }] }],
});
const told = (view: Parameters<typeof reconcile>[0]): string[] =>
  reconcile(view).effects.map((effect) => (effect.op === 'event' ? effect.reason : effect.op));
const slicesOf = (view: Parameters<typeof reconcile>[0]): EndpointSlice[] =>
  reconcile(view).effects.flatMap((effect) =>
    effect.op === 'create' || effect.op === 'update' ? [effect.object as EndpointSlice] : [],
  );

describe('mirroring', () => {
  test('one slice per address family', () => {
    const found = slicesOf({
      endpoints: endpoints([{ ip: '10.0.0.1', nodeName: 'n' }, { ip: 'fd00::1' }], { labels: { a: 'b' } }),
      service,
      slices: [],
    });
    expect(found.map(({ addressType }) => addressType)).toEqual(['IPv4', 'IPv6']);
    expect(found[0]).toMatchObject({
      metadata: {
        generateName: 'x-',
        labels: {
          a: 'b',
          'kubernetes.io/service-name': 'x',
          'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
        },
        ownerReferences: [{ kind: 'Endpoints', uid: 'e' }],
      },
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true }, nodeName: 'n' }],
      ports: [{ name: '', port: 80, protocol: 'TCP' }],
    });
  });
  test('what is mirrored is left alone', () => {
    const mirrored = endpoints([{ ip: '10.0.0.1' }]);
    const slices = slicesOf({ endpoints: mirrored, service, slices: [] }).map((slice) => ({
      ...slice,
      metadata: { ...slice.metadata, name: 'x-1' },
    }));
    expect(told({ endpoints: mirrored, service, slices })).toEqual([]);
    expect(told({ endpoints: endpoints([{ ip: '10.0.0.2' }]), service, slices })).toEqual(['update']);
  });
  test('addresses that are none are told of', () =>
    expect(told({ endpoints: endpoints([{ ip: 'nowhere' }, { ip: '10.0.0.1' }]), service, slices: [] })).toEqual([
      'InvalidIPAddress',
      'create',
    ]));
  test('at most a thousand per subset', () => {
    const many = Array.from({ length: 1001 }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
    const view = { endpoints: endpoints(many), service, slices: [] };
    expect(told(view)).toEqual(['TooManyAddressesToMirror', 'create']);
    expect(slicesOf(view)[0]?.endpoints).toHaveLength(1000);
  });
});

describe('not mirrored, and what was goes', () => {
  const slices: EndpointSlice[] = [{ metadata: { name: 'x-1', namespace: 'ns' }, addressType: 'IPv4' }];
  const one = [{ ip: '10.0.0.1' }];
  test.each([
    ['no Endpoints', undefined, service],
    ['no Service', endpoints(one), undefined],
    ['a Service that selects pods', endpoints(one), { ...service, spec: { selector: { a: 'b' } } }],
    ['asked not to', endpoints(one, { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }), service],
    ['used for leader election', endpoints(one, { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }), service],
  ])('%s', (_, some, of) => expect(told({ endpoints: some, service: of, slices })).toEqual(['delete']));
});
