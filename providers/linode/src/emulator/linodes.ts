// Linodes and their interfaces of both generations.
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import { type Account, bodyOf, idIn, type StoredInterface } from './account.ts';
import { listAnswer } from './lists.ts';
import { busy, invalid, notFound } from './refusals.ts';
import { lies } from './ranges.ts';

const changing = ['provisioning', 'rebuilding', 'migrating', 'restoring', 'cloning'];

const profileInterface = (one: StoredInterface): object => ({
  id: one.id,
  purpose: 'vpc',
  active: true,
  primary: true,
  label: null,
  ipam_address: null,
  vpc_id: one.vpc,
  subnet_id: one.subnet,
  ipv4: { vpc: one.address, nat_1_1: null },
  ip_ranges: one.ranges,
  ipv6: {
    is_public: false,
    slaac: one.slaac.map((address) => ({ address, range: `${address}/64` })),
    ranges: one.ipv6Ranges.map((range) => ({ range })),
  },
});
const linodeInterface = (one: StoredInterface): object => ({
  id: one.id,
  mac_address: '22:00:ab:cd:ef:01',
  version: 1,
  default_route: { ipv4: true },
  public: null,
  vlan: null,
  vpc: {
    vpc_id: one.vpc,
    subnet_id: one.subnet,
    ipv4: { addresses: [{ address: one.address, primary: true }], ranges: one.ranges.map((range) => ({ range })) },
    ipv6: {
      is_public: false,
      slaac: one.slaac.map((address) => ({ address, range: `${address}/64` })),
      ranges: one.ipv6Ranges.map((range) => ({ range })),
    },
  },
});

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).map((one) => String((one as { range?: string }).range ?? one));

/** Checks new ranges: well-formed, and in no other interface of the VPC; IPv6 ones must be of the subnet. */
function checkRanges(account: Account, there: StoredInterface, field: string, ranges: readonly string[]): void {
  const others = account.of('interface').filter((one) => one.vpc === there.vpc && one.id !== there.id);
  for (const range of ranges) {
    if (!/^[\da-f.:]+\/\d{1,3}$/i.test(range)) throw invalid(field, 'Must be a valid range in CIDR notation');
    if (others.some((one) => [...one.ranges, ...one.ipv6Ranges].includes(range)))
      throw invalid(field, `Range ${range} is already in use in this VPC`);
    if (range.includes(':') && !account.must('subnet', there.subnet).ipv6.some((subnet) => lies(range, subnet.range)))
      throw invalid(field, `Range ${range} is not within the subnet`);
  }
}

function setRanges(account: Account, there: StoredInterface, ipv4: unknown, ipv6: unknown): StoredInterface {
  const linode = account.must('linode', there.linode);
  if (changing.includes(linode.status)) throw busy();
  const ranges = ipv4 === undefined ? there.ranges : texts(ipv4);
  const ipv6Ranges = ipv6 === undefined ? there.ipv6Ranges : texts(ipv6);
  checkRanges(account, there, 'ip_ranges', ranges);
  checkRanges(account, there, 'ipv6.ranges', ipv6Ranges);
  return account.put('interface', { ...there, ranges, ipv6Ranges });
}

export function linodeRoutes(account: Account): Routes {
  const interfaceOf = (request: VendorRequest, look: 'seen' | 'must'): StoredInterface => {
    account[look]('linode', idIn(request));
    const found = account[look]('interface', idIn(request, 'interface'));
    const profile = request.params['profile'] === undefined ? null : idIn(request, 'profile');
    if (found.linode !== idIn(request) || found.profile !== profile) throw notFound();
    return found;
  };
  const ofProfile = '/v4/linode/instances/{id}/configs/{profile}/interfaces/{interface}';
  const ofLinode = '/v4/linode/instances/{id}/interfaces/{interface}';
  return {
    'GET /v4/linode/instances': (request) =>
      listAnswer(account.seenOf('linode'), request, ['id', 'label', 'region', 'tags', 'group', 'image']),
    'GET /v4/linode/instances/{id}': (request) => ({ body: account.seen('linode', idIn(request)) }),
    [`GET ${ofProfile}`]: (request) => ({ body: profileInterface(interfaceOf(request, 'must')) }),
    [`PUT ${ofProfile}`]: (request) => {
      const { ip_ranges: ipv4, ipv6 } = bodyOf(request);
      const there = interfaceOf(request, 'must');
      return { body: profileInterface(setRanges(account, there, ipv4, (ipv6 as { ranges?: unknown } | undefined)?.ranges)) };
    },
    [`GET ${ofLinode}`]: (request) => ({ body: linodeInterface(interfaceOf(request, 'must')) }),
    [`PUT ${ofLinode}`]: (request) => {
      const { vpc } = bodyOf(request) as { vpc?: { ipv4?: { ranges?: unknown }; ipv6?: { ranges?: unknown } } };
      const there = interfaceOf(request, 'must');
      return { body: linodeInterface(setRanges(account, there, vpc?.ipv4?.ranges, vpc?.ipv6?.ranges)) };
    },
  };
}
