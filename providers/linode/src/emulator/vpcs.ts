// VPCs, their subnets, and the addresses and ranges in them.
import type { Routes } from 'sagong/cloud-provider/test-server';
import type { VpcIp } from '../api/types.ts';
import { type Account, idIn, type StoredInterface, type StoredSubnet } from './account.ts';
import { listAnswer } from './lists.ts';
import { notFound } from './refusals.ts';

const common = (one: StoredInterface) => ({
  linode_id: one.linode,
  nodebalancer_id: null,
  vpc_id: one.vpc,
  subnet_id: one.subnet,
  interface_id: one.id,
  config_id: one.profile,
  active: true,
});

/** One entry for the address, and one for each range. */
const ipv4Of = (one: StoredInterface): VpcIp[] => [
  { ...common(one), address: one.address, address_range: null },
  ...one.ranges.map((range) => ({ ...common(one), address: null, address_range: range })),
];
const ipv6Of = (one: StoredInterface): VpcIp[] => [
  ...one.slaac.map((address) => ({
    ...common(one),
    address: null,
    address_range: null,
    ipv6_range: null,
    ipv6_is_public: false,
    ipv6_addresses: [{ slaac_address: address }],
  })),
  ...one.ipv6Ranges.map((range) => ({
    ...common(one),
    address: null,
    address_range: null,
    ipv6_range: range,
    ipv6_is_public: false,
    ipv6_addresses: [],
  })),
];

export function vpcRoutes(account: Account): Routes {
  const subnetShown = ({ vpc: _vpc, ...subnet }: StoredSubnet): object => ({
    ...subnet,
    linodes: account
      .seenOf('interface')
      .filter((one) => one.subnet === subnet.id)
      .map((one) => ({ id: one.linode, interfaces: [{ id: one.id, config_id: one.profile, active: true }] })),
    created: account.timestamp(),
    updated: account.timestamp(),
  });
  const subnetsOf = (vpc: number): object[] =>
    account
      .seenOf('subnet')
      .filter((one) => one.vpc === vpc)
      .map(subnetShown);
  const vpcShown = (vpc: { id: number }): object => ({
    description: '',
    ...vpc,
    subnets: subnetsOf(vpc.id),
    created: account.timestamp(),
    updated: account.timestamp(),
  });
  const interfacesOf = (vpc: number): StoredInterface[] => {
    account.seen('vpc', vpc);
    return account.seenOf('interface').filter((one) => one.vpc === vpc);
  };
  /** What NodeBalancers have taken of a VPC. */
  const takenOf = (vpc: number): VpcIp[] =>
    account.seenOf('balancer').flatMap((balancer) =>
      balancer.vpcs
        .filter(({ subnet_id: subnet }) => account.get('subnet', subnet)?.vpc === vpc)
        .map(({ subnet_id: subnet, ipv4_range: range }) => ({
          linode_id: null,
          nodebalancer_id: balancer.id,
          vpc_id: vpc,
          subnet_id: subnet,
          interface_id: 0,
          config_id: null,
          address: null,
          address_range: range,
        })),
    );
  return {
    'GET /v4/vpcs': (request) => listAnswer(account.seenOf('vpc').map(vpcShown), request, ['id', 'label', 'region']),
    'GET /v4/vpcs/{id}': (request) => ({ body: vpcShown(account.seen('vpc', idIn(request))) }),
    'GET /v4/vpcs/{id}/subnets': (request) => {
      account.seen('vpc', idIn(request));
      return listAnswer(subnetsOf(idIn(request)), request, ['id', 'label']);
    },
    'GET /v4/vpcs/{id}/subnets/{subnet}': (request) => {
      const found = account.seen('subnet', idIn(request, 'subnet'));
      if (found.vpc !== idIn(request)) throw notFound();
      return { body: subnetShown(found) };
    },
    'GET /v4/vpcs/{id}/ips': (request) => {
      const vpc = idIn(request);
      return listAnswer([...interfacesOf(vpc).flatMap(ipv4Of), ...takenOf(vpc)], request, ['subnet_id', 'linode_id']);
    },
    'GET /v4/vpcs/{id}/ipv6s': (request) => listAnswer(interfacesOf(idIn(request)).flatMap(ipv6Of), request, ['subnet_id']),
  };
}
