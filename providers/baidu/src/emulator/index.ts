// Baidu AI Cloud's APIs before the local cloud (`sagong up --cloud-provider-emulator baidu`): BLB, EIP, VPC and BCC of one account, from the vendor's public
// references (https://cloud.baidu.com/doc/BLB, /EIP, /VPC, /BCC). What is kept here is what the vendor knows beyond the local cloud. Every request is signed with
// the account's keys; what takes the vendor a while is done before the request is answered.
import { randomBytes } from 'node:crypto';
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
import type { VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Credentials } from '../api/sign.ts';
import { Account, nodeSubnet } from './account.ts';
import { checkSignature } from './auth.ts';
import { balancerRoutes } from './balancers.ts';
import { eipRoutes } from './eips.ts';
import { groupRoutes } from './groups.ts';
import { keyBytes } from './limits.ts';
import { balancerOf, routesOf } from './local-cloud.ts';
import { networkRoutes } from './network.ts';
import { refusalBody } from './refusals.ts';

const kinds = ['balancer', 'listener', 'backend', 'eip', 'rule', 'group'] as const;
type Kept = { [K in (typeof kinds)[number]]: ReturnType<Account['of']> };
interface Saved extends Kept {
  count: number;
}

function restore(account: Account, text: string): void {
  const saved = savedAccount<Saved>('Baidu AI Cloud', text);
  account.count = saved.count;
  for (const kind of kinds) for (const thing of saved[kind]) account.put(kind, thing as never);
}

function save(account: Account): string {
  const kept = Object.fromEntries(kinds.map((kind) => [kind, account.of(kind)])) as Kept;
  return savedText({ ...kept, count: account.count } satisfies Saved);
}

function setInstances(account: Account, vpcId: string, machines: readonly EmulatedMachine[]): void {
  const ids = new Set(machines.map(({ id }) => id));
  for (const { id, instanceId } of account.of('backend')) if (!ids.has(instanceId)) account.delete('backend', id);
  for (const { id } of account.of('instance')) if (!ids.has(id)) account.delete('instance', id);
  for (const { id, name, state, privateAddress: internalIp, publicAddress: publicIp, zone: zoneName } of machines)
    account.put('instance', {
      id,
      name,
      hostname: name,
      status: ({ starting: 'Starting', running: 'Running', stopped: 'Stopped' } as const)[state],
      internalIp,
      ...(publicIp !== undefined && { publicIp }),
      zoneName,
      vpcId,
      subnetId: nodeSubnet,
    });
}

/** `<access key ID>:<secret access key>`. */
function credentialsIn(secret: string): Credentials {
  const [accessKeyId = '', secretAccessKey = ''] = secret.split(':');
  return { accessKeyId, secretAccessKey };
}

const requestId = ({ number }: VendorRequest): string => `request-${number}`;

function open({ saved, secret, zones, networkId, subnetCidrs, now, rng }: VendorEmulationContext): VendorEmulation {
  const account = new Account(now);
  let free: readonly string[] = [];
  const eips = (): string[] => account.of('eip').map(({ eip }) => eip);
  account.tokensOutlive = false;
  account.addSubnet(zones[0] ?? '', networkId);
  account.publicAddress = () => freeAddress(free, eips());
  account.privateAddress = () => {
    const taken = account.of('balancer').map(({ address }) => address);
    return privateAddress(subnetCidrs[0] ?? '', taken, rng);
  };
  if (saved !== undefined) restore(account, saved);
  const credentials = [credentialsIn(secret)];
  const api = answeringApi({
    routes: { ...balancerRoutes(account), ...eipRoutes(account), ...networkRoutes(account), ...groupRoutes(account) },
    enter: (request) => checkSignature(request, credentials, now()),
    refusalAnswer: (refusal, request) => ({ body: refusalBody(refusal, requestId(request)) }),
    headers: (request) => ({ 'x-bce-request-id': requestId(request) }),
  });
  return {
    ...api,
    setMachines: (machines) => setInstances(account, networkId, machines),
    setBalancers() {},
    setFreeAddresses(addresses) {
      free = addresses;
    },
    addresses: eips,
    balancers: () => account.of('balancer').map((one) => balancerOf(account, one)),
    routes: () => routesOf(account),
    save: () => save(account),
  };
}

const clusterId = (cluster: string): string => `c-${cluster.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 38)}`;

const definition: VendorEmulatorDefinition = {
  provider: 'cce',
  newSecret: () => `${randomBytes(keyBytes).toString('hex')}:${randomBytes(keyBytes).toString('hex')}`,
  publicAddresses: true,
  open,
  manager: ({ url, secret, region, cluster, networkId, dir }) => ({
    env: {},
    unset: ['BAIDUCLOUD_REGION', 'BAIDUCLOUD_ACCESS_KEY', 'BAIDUCLOUD_SECRET_KEY', 'BAIDUCLOUD_SESSION_TOKEN'],
    files: { 'credentials.json': JSON.stringify(credentialsIn(secret), null, 2) },
    config: `${JSON.stringify(
      {
        ClusterId: clusterId(cluster),
        CredentialsFile: `${dir}/credentials.json`,
        Region: region,
        VpcId: networkId,
        Endpoints: { blb: url, eip: url, vpc: url, bcc: url },
      },
      null,
      2,
    )}\n`,
    rights: {
      cce: [
        { apiGroups: [''], resources: ['services', 'nodes'], verbs: ['patch'] },
        { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['events'], verbs: ['create'] },
      ],
    },
  }),
};
export default definition;
