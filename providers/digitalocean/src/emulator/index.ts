// DigitalOcean's API before the local cloud (`sagong up --cloud-provider-emulator digitalocean`): droplets, load balancers, tags and regions, from the
// vendor's API reference (https://docs.digitalocean.com/reference/api/). What is kept here is what the vendor knows beyond the local cloud.
import { randomBytes } from 'node:crypto';
import {
  answeringApi,
  type EmulatedMachine,
  machineNumber,
  sameSecret,
  savedAccount,
  savedText,
  type VendorEmulation,
  type VendorEmulationContext,
  type VendorEmulatorDefinition,
} from 'sagong/cloud-provider/emulator';
import type { Routes } from 'sagong/cloud-provider/test-server';
import { clientName } from '../cloud.ts';
import { Account, type Droplet, type LoadBalancer, type Network, type Region, regionOf } from './account.ts';
import { balancerOf } from './local-cloud.ts';
import { Refusal, refusalBody, requestIdOf } from './refusal.ts';
import { apiRoutes } from './routes.ts';

/** What the reference has and this cloud has not is answered by name. */
const refuse = (sentence: string) => (): never => {
  throw new Refusal(422, sentence);
};
const noFirewalls = refuse('the local cloud has no firewalls: access to load balancers is said by allow rules');

const routesOf = (account: Account): Routes => ({
  ...apiRoutes(account),
  'GET /v2/account': () => ({ body: { account: { status: 'active', email: 'owner@example.com', uuid: account.vpc } } }),
  'DELETE /v2/droplets/{id}': refuse('droplets are nodes of the local cloud: sagong node terminate'),
  'POST /v2/droplets': refuse('droplets are nodes of the local cloud: sagong node add'),
  'POST /v2/firewalls': noFirewalls,
  'PUT /v2/firewalls/{id}': noFirewalls,
  'POST /v2/certificates': refuse('the local cloud has no certificates'),
});

const network = (address: string, type: Network['type']): Network => ({
  ip_address: address,
  netmask: '255.255.0.0',
  gateway: '',
  type,
});

function dropletOf(machine: EmulatedMachine, region: Region, vpc: string): Droplet {
  const { privateAddress, publicAddress } = machine;
  return {
    id: machineNumber(machine.id),
    name: machine.name,
    memory: machine.memoryMiB,
    vcpus: machine.cpus,
    disk: 0,
    locked: false,
    status: ({ starting: 'new', running: 'active', stopped: 'off' } as const)[machine.state],
    created_at: machine.createdAt,
    features: ['private_networking'],
    size_slug: machine.type,
    networks: {
      v4: [network(privateAddress, 'private'), ...(publicAddress === undefined ? [] : [network(publicAddress, 'public')])],
      v6: [],
    },
    region,
    tags: [],
    vpc_uuid: vpc,
  };
}

/** Always the same for the same network: its hex digits at the end of a UUID. */
const uuidOf = (networkId: string): string =>
  `00000000-0000-4000-8000-${networkId
    .replace(/[^0-9a-f]/g, '')
    .slice(-12)
    .padStart(12, '0')}`;

interface Saved {
  loadBalancers: LoadBalancer[];
  tags: [string, string[]][];
  /** Each load balancer's ID with its address. */
  ownAddresses: [string, string][];
}

function restore(account: Account, text: string): void {
  const saved = savedAccount<Saved>('DigitalOcean', text);
  for (const balancer of saved.loadBalancers) account.loadBalancers.set(balancer.id, balancer);
  for (const [tag, resources] of saved.tags) account.tags.set(tag, new Set(resources));
  for (const [id, address] of saved.ownAddresses) account.ownAddresses.set(id, address);
}

function saveOf(account: Account): string {
  // Address and state are the local cloud's.
  const loadBalancers = [...account.loadBalancers.values()].map((one) => ({ ...one, ip: '', status: 'new' as const }));
  const tags = [...account.tags].map(([tag, resources]): [string, string[]] => [tag, [...resources]]);
  return savedText({ loadBalancers, tags, ownAddresses: [...account.ownAddresses] } satisfies Saved);
}

function open({ saved, secret, region: slug, networkId, instanceTypes, now }: VendorEmulationContext): VendorEmulation {
  const account = new Account(now);
  const region = { ...regionOf(slug, slug), sizes: [...instanceTypes], features: ['private_networking'] };
  const vpc = uuidOf(networkId);
  account.regions = [region];
  account.activationMs = Number.POSITIVE_INFINITY;
  account.vpc = vpc;
  if (saved !== undefined) restore(account, saved);
  const api = answeringApi({
    routes: routesOf(account),
    enter({ headers }) {
      if (!sameSecret(headers['authorization'], `Bearer ${secret}`)) throw new Refusal(401, 'Unable to authenticate you.');
    },
    refusalAnswer: (refusal, request) => ({ body: refusalBody(refusal, request) }),
    headers: (request) => ({ 'x-request-id': requestIdOf(request) }),
  });
  return {
    ...api,
    setMachines(machines) {
      const droplets = machines.map((machine) => dropletOf(machine, region, vpc));
      const ids = new Set(droplets.map(({ id }) => id));
      for (const id of [...account.droplets.keys()]) if (!ids.has(id)) account.droplets.delete(id);
      for (const droplet of droplets) account.droplets.set(droplet.id, droplet);
      for (const balancer of account.loadBalancers.values())
        balancer.droplet_ids = balancer.droplet_ids.filter((id) => ids.has(id));
    },
    setBalancers(made) {
      for (const balancer of account.loadBalancers.values()) {
        const { address = '', state = 'provisioning' } = made.get(balancer.id) ?? {};
        balancer.ip = address;
        balancer.status = ({ provisioning: 'new', active: 'active', failed: 'errored' } as const)[state];
      }
    },
    balancers: () => [...account.loadBalancers.values()].map((one) => balancerOf(one, account.ownAddresses.get(one.id))),
    save: () => saveOf(account),
  };
}

const definition: VendorEmulatorDefinition = {
  provider: 'digitalocean',
  newSecret: () => `dop_v1_${randomBytes(32).toString('hex')}`,
  publicAddresses: true,
  open,
  manager: ({ url, secret, region, cluster }) => ({
    env: { DO_ACCESS_TOKEN: secret, DO_OVERRIDE_URL: `${url}/`, REGION: region, DO_CLUSTER_ID: cluster },
    unset: [
      'DO_CLUSTER_VPC_ID',
      'DO_API_RATE_LIMIT_QPS',
      'DEFAULT_LB_TYPE',
      'PUBLIC_ACCESS_FIREWALL_NAME',
      'PUBLIC_ACCESS_FIREWALL_TAGS',
    ],
    config: '',
    rights: {
      [clientName]: [
        { apiGroups: [''], resources: ['services'], verbs: ['list', 'patch'] },
        { apiGroups: [''], resources: ['events'], verbs: ['create'] },
      ],
    },
  }),
};
export default definition;
