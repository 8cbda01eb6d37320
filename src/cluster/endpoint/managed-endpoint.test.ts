// The names and source ranges of a managed control plane, while modes and machines change at once, against a cloud that takes its time.
import { expect, it } from 'vitest';
import type { LoadBalancer } from '#cloud';
import type { CloudClient } from '#cloud/client';
import { ManagedEndpoint } from './managed-endpoint.ts';

const group = { id: 'sg', ingress: [{ groupId: 'sg', description: 'members of the cluster' }] };
const network = { vpc: { id: 'vpc', name: 'c' }, subnets: [{ id: 'a' }, { id: 'b' }], routeTable: {}, group } as never;

/** A cloud of names and source ranges alone: what was asked last is what is. */
function slowCloud() {
  const zones = new Map<string, string[]>();
  const state = { sourceRanges: [] as string[], refuses: false };
  interface Input {
    privateAddress: string;
    visibility: string;
    dnsZoneId: string;
    values: string[];
    sourceRanges: string[];
  }
  const answers: Record<string, (input: Input) => unknown> = {
    listVpcs: () => ({ items: [{ id: 'vpc-p', cidr: '10.177.0.0/16', name: 'p' }] }),
    listZones: () => ({ items: [] }),
    listSubnets: () => ({ items: [] }),
    listRouteTables: () => ({ items: [{ id: 'rt', routes: [{ destination: '0.0.0.0/0' }] }] }),
    listSecurityGroups: () => ({ items: [group] }),
    listInterfaces: ({ privateAddress }) => ({ items: [{ privateAddress }] }),
    listDnsZones: () => ({ items: [...zones.keys()].map((visibility) => ({ id: visibility, visibility })) }),
    createDnsZone({ visibility }) {
      if (zones.has(visibility)) throw new Error('a second zone of one name');
      zones.set(visibility, []);
      return { id: visibility };
    },
    putDnsRecord: ({ dnsZoneId, values }) => void zones.set(dnsZoneId, values),
    deleteDnsZone: ({ dnsZoneId }) => void zones.delete(dnsZoneId),
    putSourceRanges: ({ sourceRanges }) => void (state.sourceRanges = sourceRanges),
  };
  const client = new Proxy({} as CloudClient, {
    get: (_, operation: string) => async (input: Input) => {
      for (let turns = 0; turns < 3; turns++) await Promise.resolve();
      if (state.refuses && operation === 'putSourceRanges') throw new Error('InternalError');
      return answers[operation]?.(input);
    },
  });
  return { client, zones, state };
}

async function opened() {
  const cloud = slowCloud();
  let tell: (addresses: readonly string[]) => Promise<void> = async () => {};
  const plane = {
    open: async () => ({ id: 'lb', address: '198.19.0.3' }) as LoadBalancer,
    connect: async (_: unknown, told: typeof tell) => void (tell = told),
  } as never;
  const options = { cluster: 'c', mark: 'abcdef', access: 'public' as const, service: () => cloud.client, plane };
  const endpoint = new ManagedEndpoint(options);
  await endpoint.open(network);
  await endpoint.connect(undefined);
  return { ...cloud, endpoint, tell: (addresses: readonly string[]) => tell(addresses) };
}

it('ends in the mode that was asked for last, whatever changes meanwhile', async () => {
  const { endpoint, tell, zones, state } = await opened();
  expect(Object.fromEntries(zones)).toEqual({ public: ['198.19.0.3'] });
  await Promise.all([
    tell(['10.77.0.10']),
    endpoint.setAccess('private'),
    tell(['10.77.16.10']),
    endpoint.setAccess('public-and-private'),
    tell(['10.77.0.10', '10.77.16.10']),
    endpoint.setAccess('private'),
  ]);
  const inside = ['10.77.0.10', '10.77.16.10'];
  expect([Object.fromEntries(zones), state.sourceRanges]).toEqual([{ public: inside, private: inside }, ['10.177.0.0/16']]);
  expect(endpoint.publicServer).toBeUndefined();
});

it('stays in the mode that it had where the cloud refuses another', async () => {
  const { endpoint, zones, state } = await opened();
  state.refuses = true;
  await expect(endpoint.setAccess('private')).rejects.toThrow('InternalError');
  expect([endpoint.access, endpoint.publicServer]).toEqual([
    'public',
    expect.objectContaining({ url: 'https://198.19.0.3:443' }),
  ]);
  state.refuses = false;
  await endpoint.setAccess('public');
  expect([Object.fromEntries(zones), state.sourceRanges]).toEqual([{ public: ['198.19.0.3'] }, ['0.0.0.0/0']]);
});
