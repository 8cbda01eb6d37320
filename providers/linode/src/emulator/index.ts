// Linode's API before the local cloud (`sagong up --cloud-provider-emulator linode`): Linodes in a VPC, NodeBalancers and Cloud Firewalls, from the vendor's
// API reference (https://techdocs.akamai.com/linode-api/reference). What is kept here is what the vendor knows beyond the local cloud.
import { nodeNotesAccount, nodeNotesRights } from '../instances/node-notes.ts';
import { randomBytes } from 'node:crypto';
import {
  answeringApi,
  type EmulatedMachine,
  freeAddress,
  machineNumber,
  machineOfNumber,
  privateAddress,
  sameSecret,
  savedAccount,
  savedText,
  type VendorEmulation,
  type VendorEmulationContext,
  type VendorEmulatorDefinition,
} from 'sagong/cloud-provider/emulator';
import type { Routes } from 'sagong/cloud-provider/test-server';
import { clientName } from '../names.ts';
import { Account } from './account.ts';
import { balancerRoutes } from './balancer-routes.ts';
import { firewallRoutes } from './firewalls.ts';
import { tokenBytes } from './limits.ts';
import { linodeRoutes } from './linodes.ts';
import { balancerOf } from './local-cloud.ts';
import { invalid, refusalBody, unauthorized } from './refusals.ts';
import { vpcRoutes } from './vpcs.ts';

/** All nodes are in one VPC with one subnet. */
const place = { vpc: 1, subnet: 1 };

const refuse = (sentence: string) => (): never => {
  throw invalid('', sentence);
};

const routesOf = (account: Account): Routes => ({
  'GET /v4/profile': () => ({ body: { username: 'owner', email: 'owner@example.com', restricted: false } }),
  ...linodeRoutes(account),
  ...vpcRoutes(account),
  ...balancerRoutes(account),
  ...firewallRoutes(account),
  'POST /v4/linode/instances': refuse('Linodes are nodes of the local cloud: sagong node add'),
  'DELETE /v4/linode/instances/{id}': refuse('Linodes are nodes of the local cloud: sagong node terminate'),
});

/** The ID of a Linode, and the ranges of pods that are routed to it. */
type Ranges = [number, string[]];
const kinds = ['balancer', 'config', 'node', 'firewall', 'device'] as const;
type Kept = { [K in (typeof kinds)[number]]: ReturnType<Account['of']> };
interface Saved extends Kept {
  count: number;
  ranges: Ranges[];
}

function restore(account: Account, text: string): Map<number, string[]> {
  const saved = savedAccount<Saved>('Linode', text);
  account.count = saved.count;
  for (const kind of kinds) for (const thing of saved[kind]) account.put(kind, thing as never);
  return new Map(saved.ranges);
}

function save(account: Account, ranges: ReadonlyMap<number, string[]>): string {
  const kept = Object.fromEntries(kinds.map((kind) => [kind, account.of(kind)]));
  return savedText({ ...kept, count: account.count, ranges: [...ranges] });
}

function setLinode(account: Account, region: string, machine: EmulatedMachine, ranges: string[]): void {
  const id = machineNumber(machine.id);
  const { privateAddress: address, publicAddress } = machine;
  account.put('linode', {
    id,
    label: machine.name,
    region,
    type: machine.type,
    status: ({ starting: 'booting', running: 'running', stopped: 'offline' } as const)[machine.state],
    ipv4: publicAddress === undefined ? [] : [publicAddress],
    ipv6: null,
    host_uuid: machine.id,
    tags: [],
    interface_generation: 'linode',
  });
  const none = { profile: null, ipv6Ranges: [], slaac: [] };
  account.put('interface', { id, linode: id, ...place, address, ranges, ...none });
}

function setLinodes(account: Account, region: string, machines: readonly EmulatedMachine[], ranges: Map<number, string[]>): void {
  const ids = new Set(machines.map(({ id }) => machineNumber(id)));
  for (const { id } of account.of('linode'))
    if (!ids.has(id)) {
      account.delete('linode', id);
      account.delete('interface', id);
    }
  for (const machine of machines) {
    const id = machineNumber(machine.id);
    setLinode(account, region, machine, account.get('interface', id)?.ranges ?? ranges.get(id) ?? []);
  }
}

function open({ saved, secret, region, subnetCidrs, now, rng }: VendorEmulationContext): VendorEmulation {
  const account = new Account(now, () => 0);
  let free: readonly string[] = [];
  const taken = (): string[] => account.of('balancer').map(({ ipv4 }) => ipv4);
  const [cidr = ''] = subnetCidrs;
  const ranges = saved === undefined ? new Map<number, string[]>() : restore(account, saved);
  account.put('vpc', { id: place.vpc, label: 'cluster', region });
  account.put('subnet', { id: place.subnet, vpc: place.vpc, label: 'default', ipv4: cidr, ipv6: [] });
  account.publicAddress = () => freeAddress(free, taken());
  account.privateAddress = () => privateAddress(cidr, taken(), rng);
  account.publicIpv6 = () => null;
  const rangesNow = (): Map<number, string[]> =>
    new Map(account.of('interface').flatMap((one): Ranges[] => (one.ranges.length > 0 ? [[one.linode, one.ranges]] : [])));
  const api = answeringApi({
    routes: routesOf(account),
    enter({ headers }) {
      if (!sameSecret(headers['authorization'], `Bearer ${secret}`)) throw unauthorized();
    },
    refusalAnswer: (refusal) => ({ body: refusalBody(refusal) }),
  });
  return {
    ...api,
    setMachines: (machines) => setLinodes(account, region, machines, ranges),
    setBalancers() {},
    setFreeAddresses(addresses) {
      free = addresses;
    },
    addresses: taken,
    balancers: () => account.of('balancer').map((one) => balancerOf(account, one)),
    routes: () =>
      [...rangesNow()].flatMap(([linode, all]) => all.map((destination) => ({ destination, machine: machineOfNumber(linode) }))),
    save: () => save(account, rangesNow()),
  };
}

const definition: VendorEmulatorDefinition = {
  provider: 'linode',
  newSecret: () => randomBytes(tokenBytes).toString('hex'),
  publicAddresses: true,
  open,
  manager: ({ url, secret, region }) => ({
    env: { LINODE_API_TOKEN: secret, LINODE_URL: `${url}/v4`, LINODE_REGION: region },
    unset: ['LINODE_API_TOKEN_FILE', 'LINODE_EXTERNAL_SUBNET', 'LINODE_HOSTNAME_ONLY_INGRESS'],
    config: '',
    flags: { 'enable-route-controller': true, 'vpc-ids': [String(place.vpc)], 'subnet-ids': [String(place.subnet)] },
    rights: {
      [clientName]: [
        { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
        { apiGroups: [''], resources: ['events'], verbs: ['create'] },
      ],
      [nodeNotesAccount]: nodeNotesRights,
    },
  }),
};
export default definition;
