// OCI's APIs before the local cloud (`sagong up --cloud-provider-emulator oci`): instances, load balancers of both kinds, security lists and network security
// groups of one compartment, from the vendor's API reference (https://docs.oracle.com/iaas/api/). What is kept here is what the vendor knows beyond the local
// cloud. Every request is signed with the user's key; work requests are done before the request that begins them is answered.
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { BlockList } from 'node:net';
import {
  answeringApi,
  type EmulatedMachine,
  freeAddress,
  privateAddress,
  savedAccount,
  savedText,
  type VendorEmulation,
  type VendorEmulationContext,
  type VendorEmulatorDefinition,
} from 'sagong/cloud-provider/emulator';
import type { Operation } from 'sagong/cloud-provider/test-server';
import { clientName } from '../names.ts';
import { Account, type StoredBalancer } from './account.ts';
import { classicRoutes } from './classic.ts';
import { coreRoutes } from './core.ts';
import { keyBits, workRequestsKept } from './limits.ts';
import { balancerOf } from './local-cloud.ts';
import { networkRoutes } from './nlb.ts';
import { refusalBody } from './refusals.ts';
import { checkBody, checkSignature } from './signature.ts';

const realm = 'oc1';
const idOf = (kind: string, name: string): string => `ocid1.${kind}.${realm}.local.${name}`;
const tenancy = `ocid1.tenancy.${realm}..local`;
const user = `ocid1.user.${realm}..local`;
const compartment = `ocid1.compartment.${realm}..local`;
const vcn = idOf('vcn', 'cluster');
const balancerSubnet = idOf('subnet', 'balancers');
const lists = { nodes: idOf('securitylist', 'nodes'), balancers: idOf('securitylist', 'balancers') };

/** As `openssl rsa -pubout -outform DER | openssl md5 -c` shows it. */
const fingerprintOf = (pem: string): string =>
  createHash('md5')
    .update(createPublicKey(pem).export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .replace(/(..)(?=.)/g, '$1:');

const kinds = ['balancer', 'group', 'groupRule', 'list'] as const;
type Kept = { [K in (typeof kinds)[number]]: ReturnType<Account['of']> };
interface Saved extends Kept {
  count: number;
  workRequests: Operation[];
}

const isThere = ({ lifecycleState }: StoredBalancer): boolean => lifecycleState !== 'DELETED';

function save(account: Account): string {
  const kept = Object.fromEntries(kinds.map((kind) => [kind, account.of(kind)])) as Kept;
  return savedText({
    ...kept,
    balancer: account.of('balancer').filter(isThere),
    count: account.count,
    workRequests: account.operations.all().slice(-workRequestsKept),
  } satisfies Saved);
}

function restore(account: Account, text: string): void {
  const saved = savedAccount<Saved>('OCI', text);
  account.count = saved.count;
  for (const kind of kinds) for (const thing of saved[kind]) account.put(kind, thing as never);
  account.operations.restore(saved.workRequests);
}

/** A network with a subnet for load balancers, and one for the nodes of each zone. */
function addNetwork(account: Account, cidrs: readonly string[]): void {
  const list = { compartmentId: compartment, vcnId: vcn, timeCreated: account.time(), etag: '1' };
  for (const id of Object.values(lists)) account.put('list', { ...list, id, ingressSecurityRules: [], egressSecurityRules: [] });
  const subnet = { compartmentId: compartment, vcnId: vcn };
  account.put('subnet', { ...subnet, id: balancerSubnet, cidrBlock: cidrs[0] ?? '', securityListIds: [lists.balancers] });
  for (const [index, cidrBlock] of cidrs.entries())
    account.put('subnet', { ...subnet, id: idOf('subnet', `nodes-${index}`), cidrBlock, securityListIds: [lists.nodes] });
}

const lies = (address: string, cidr: string): boolean => {
  const list = new BlockList();
  const [network = '', bits] = cidr.split('/');
  list.addSubnet(network, Number(bits));
  return list.check(address);
};

const instanceId = ({ id }: EmulatedMachine): string => idOf('instance', id.replace(/^i-/, ''));

function setInstance(account: Account, region: string, cidrs: readonly string[], machine: EmulatedMachine): void {
  const { name, zone, state, type, privateAddress: privateIp, publicAddress: publicIp } = machine;
  const id = instanceId(machine);
  const own = machine.id.replace(/^i-/, '');
  const subnet = cidrs.findIndex((cidr) => lies(privateIp, cidr));
  account.put('instance', {
    id,
    compartmentId: compartment,
    displayName: name,
    availabilityDomain: `local:${zone}`,
    faultDomain: 'FAULT-DOMAIN-1',
    lifecycleState: ({ starting: 'STARTING', running: 'RUNNING', stopped: 'STOPPED' } as const)[state],
    region,
    shape: type,
  });
  const vnicId = idOf('vnic', own);
  const subnetId = idOf('subnet', `nodes-${subnet}`);
  account.put('vnic', { id: vnicId, isPrimary: true, hostnameLabel: name, privateIp, subnetId, ...(publicIp && { publicIp }) });
  account.put('attachment', { id: idOf('vnicattachment', own), instanceId: id, lifecycleState: 'ATTACHED', vnicId });
}

function setInstances(account: Account, region: string, cidrs: readonly string[], machines: readonly EmulatedMachine[]): void {
  const ids = new Set(machines.map(instanceId));
  for (const { id, instanceId: of, vnicId = '' } of account.of('attachment'))
    if (!ids.has(of)) {
      account.delete('attachment', id);
      account.delete('vnic', vnicId);
      account.delete('instance', of);
    }
  for (const machine of machines) setInstance(account, region, cidrs, machine);
}

function addressesOf(account: Account, isPublic: boolean): string[] {
  const there = account.of('balancer').filter(isThere);
  return there.flatMap(({ ipAddresses }) =>
    ipAddresses.flatMap((one) => (one.ipAddress !== undefined && one.isPublic === isPublic ? [one.ipAddress] : [])),
  );
}

function open({ saved, secret, region, subnetCidrs, now, rng }: VendorEmulationContext): VendorEmulation {
  const account = new Account(now, { workRequestId: () => idOf('workrequest', rng.uuid()) });
  let free: readonly string[] = [];
  let machines: readonly EmulatedMachine[] = [];
  addNetwork(account, subnetCidrs);
  account.showsInside = false;
  account.publicAddress = () => freeAddress(free, addressesOf(account, true));
  account.privateAddress = () => privateAddress(subnetCidrs[0] ?? '', addressesOf(account, false), rng);
  if (saved !== undefined) restore(account, saved);
  const keyId = `${tenancy}/${user}/${fingerprintOf(secret)}`;
  const key = createPublicKey(secret);
  const machineAt = (wanted: string): string | undefined =>
    machines.find((machine) => machine.privateAddress === wanted || instanceId(machine) === wanted)?.id;
  const api = answeringApi({
    routes: { ...coreRoutes(account), ...classicRoutes(account), ...networkRoutes(account) },
    enter: (request) => checkSignature(request, (given) => (given === keyId ? key : undefined), now()),
    checkBody,
    refusalAnswer: (refusal) => ({ body: refusalBody(refusal) }),
    headers: ({ number, headers }) => ({ 'opc-request-id': headers['opc-request-id'] ?? `request-${number}` }),
  });
  return {
    ...api,
    setMachines(there) {
      machines = there;
      setInstances(account, region, subnetCidrs, there);
    },
    setBalancers() {},
    setFreeAddresses(addresses) {
      free = addresses;
    },
    addresses: () => addressesOf(account, true),
    balancers: () =>
      account
        .of('balancer')
        .filter(isThere)
        .map((one) => balancerOf(account, one, machineAt)),
    save: () => save(account),
  };
}

const definition: VendorEmulatorDefinition = {
  provider: 'oci',
  newSecret: () =>
    generateKeyPairSync('rsa', { modulusLength: keyBits }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  publicAddresses: true,
  open,
  manager: ({ url, secret, region, dir }) => {
    const fingerprint = fingerprintOf(secret);
    const profile = { user, fingerprint, tenancy, region, key_file: `${dir}/key.pem` };
    return {
      env: {},
      unset: ['OCI_CONFIG_FILE', 'OCI_CLI_PROFILE'],
      files: {
        'key.pem': `${secret}\n`,
        config: `[DEFAULT]\n${Object.entries(profile)
          .map(([name, value]) => `${name}=${value}\n`)
          .join('')}`,
      },
      // JSON is YAML.
      config: `${JSON.stringify({ auth: { region, tenancy, user, fingerprint, key: `${secret}\n` }, compartment, vcn, endpoint: url, loadBalancer: { subnet1: balancerSubnet } }, null, 2)}\n`,
      rights: {
        [clientName]: [
          { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
          { apiGroups: [''], resources: ['services'], verbs: ['list'] },
          { apiGroups: [''], resources: ['events'], verbs: ['create'] },
        ],
      },
    };
  },
};
export default definition;
