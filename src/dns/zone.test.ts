import { describe, expect, it } from 'vitest';
import type { Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { type ClusterView, type RecordType, resolve, reverseAddress } from './zone.ts';

const service = (name: string, spec: Service['spec']): Service => ({ metadata: { name, namespace: 'shop' }, spec });
const services: Service[] = [
  service('db', {
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7', 'fd00::7'],
    ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }],
  }),
  service('peers', { clusterIP: 'None', clusterIPs: ['None'] }),
  service('empty', { clusterIP: 'None', clusterIPs: ['None'] }),
  service('outside', { type: 'ExternalName', externalName: 'db.example.org' }),
];
const slices: EndpointSlice[] = [
  {
    metadata: { name: 'peers-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'peers' } },
    addressType: 'IPv4',
    ports: [{ name: 'raft', port: 7000, protocol: 'TCP' }],
    endpoints: [
      { addresses: ['10.244.1.5'], hostname: 'peer-0' },
      { addresses: ['10.244.2.6'] },
      { addresses: ['10.244.3.7'], conditions: { ready: false } },
    ],
  },
];
const view: ClusterView = {
  service: (_namespace, name) => services.find((one) => one.metadata.name === name),
  slices: (_namespace, name) => slices.filter((one) => one.metadata.labels?.['kubernetes.io/service-name'] === name),
  namespaceExists: (name) => name === 'shop',
  serviceByAddress: (address) => services.find((one) => one.spec?.clusterIPs?.includes(address)),
  slicesByAddress: (address) => slices.filter((one) => one.endpoints?.some((endpoint) => endpoint.addresses.includes(address))),
};
const ask = (name: string, type: RecordType = 'A'): string => {
  const answer = resolve(name, type, view, 'cluster.local');
  if (!answer) return 'not ours';
  const texts = answer.answers.map((record) =>
    record.type === 'SRV' ? `SRV ${record.data.target}:${record.data.port}` : `${record.type} ${record.data}`,
  );
  return answer.rcode === 'NOERROR' ? texts.join(', ') || 'no data' : answer.rcode;
};

describe('the cluster zone', () => {
  it.each<[string, RecordType, string]>([
    ['db.shop.svc.cluster.local', 'A', 'A 10.96.0.7'],
    ['DB.Shop.svc.cluster.LOCAL', 'A', 'A 10.96.0.7'],
    ['db.shop.svc.cluster.local', 'AAAA', 'AAAA fd00::7'],
    ['_sql._tcp.db.shop.svc.cluster.local', 'SRV', 'SRV db.shop.svc.cluster.local:5432, SRV db.shop.svc.cluster.local:5432'],
    ['_sql._udp.db.shop.svc.cluster.local', 'SRV', 'NXDOMAIN'],
    ['x.db.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['nothing.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['shop.svc.cluster.local', 'A', 'no data'],
    ['nowhere.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['cluster.local', 'A', 'no data'],
    ['peers.shop.svc.cluster.local', 'A', 'A 10.244.1.5, A 10.244.2.6'],
    ['peers.shop.svc.cluster.local', 'AAAA', 'no data'],
    ['peer-0.peers.shop.svc.cluster.local', 'A', 'A 10.244.1.5'],
    ['10-244-2-6.peers.shop.svc.cluster.local', 'A', 'A 10.244.2.6'],
    ['10-244-3-7.peers.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    [
      '_raft._tcp.peers.shop.svc.cluster.local',
      'SRV',
      'SRV peer-0.peers.shop.svc.cluster.local:7000, SRV 10-244-2-6.peers.shop.svc.cluster.local:7000',
    ],
    ['empty.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['outside.shop.svc.cluster.local', 'A', 'CNAME db.example.org'],
    ['10-1-2-3.shop.pod.cluster.local', 'A', 'A 10.1.2.3'],
    ['10-1-2-3.nowhere.pod.cluster.local', 'A', 'NXDOMAIN'],
    ['dns-version.cluster.local', 'TXT', 'TXT 1.1.0'],
    ['7.0.96.10.in-addr.arpa', 'PTR', 'PTR db.shop.svc.cluster.local'],
    ['5.1.244.10.in-addr.arpa', 'PTR', 'PTR peer-0.peers.shop.svc.cluster.local'],
    ['9.9.9.9.in-addr.arpa', 'PTR', 'not ours'],
    ['example.org', 'A', 'not ours'],
    ['evilcluster.local', 'A', 'not ours'],
  ])('%s %s -> %s', (name, type, expected) => {
    expect(ask(name, type)).toBe(expected);
  });

  it('gives the addresses of SRV targets along', () => {
    const answer = resolve('_raft._tcp.peers.shop.svc.cluster.local', 'SRV', view, 'cluster.local');
    expect(answer?.additionals.map(({ name, data }) => `${name} ${String(data)}`)).toEqual([
      'peer-0.peers.shop.svc.cluster.local 10.244.1.5',
      '10-244-2-6.peers.shop.svc.cluster.local 10.244.2.6',
    ]);
  });

  it('reads reverse names', () => {
    const nibbles = 'fd000000000000000000000000000007'.split('').reverse().join('.');
    expect(reverseAddress(`${nibbles}.ip6.arpa`)).toBe('fd00::7');
    expect(reverseAddress('1.2.3.in-addr.arpa')).toBeUndefined();
  });
});
