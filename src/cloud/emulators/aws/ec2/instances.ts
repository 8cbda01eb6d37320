// Instances: describing, powering on and off, the source/destination check. Making one is `sagong node add`: what an instance of the local cloud
// boots is a program of this machine, no image.
import type { Instance, NetworkInterface } from '../../../model/index.ts';
import { accountId, type Account, type Action, type Actions, digest, tagItems } from '../account.ts';
import { AwsError, missing, unsupported } from '../errors.ts';
import { filtered, type FilterFields, pageOf } from '../pages.ts';
import type { Parameters } from '../parameters.ts';
import type { Xml } from '../xml.ts';
import { groupItems, instanceInterface } from './interface-xml.ts';
import { allInstances, groupNames, interfacesByInstance } from './world.ts';

const stateCodes: Readonly<Record<Instance['state'], number>> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};
const stateXml = (state: Instance['state']) => ({ code: stateCodes[state], name: state });

/** A terminated instance has no addresses any more. */
const dnsNameOf = ({ state, privateDnsName }: Instance): string => (state === 'terminated' ? '' : privateDnsName);

function instanceXml(
  instance: Instance,
  interfaces: readonly NetworkInterface[],
  names: ReadonlyMap<string, string>,
  region: string,
): Xml {
  const gone = instance.state === 'terminated';
  const [first] = interfaces;
  return {
    instanceId: instance.id,
    imageId: 'ami-00000000',
    instanceState: stateXml(instance.state),
    privateDnsName: dnsNameOf(instance),
    dnsName: '',
    reason: instance.stateReason ?? '',
    amiLaunchIndex: 0,
    instanceType: instance.type,
    launchTime: instance.createdAt,
    placement: { availabilityZone: instance.zone, groupName: '', tenancy: 'default' },
    monitoring: { state: 'disabled' },
    ...(!gone && {
      subnetId: instance.subnetId,
      vpcId: instance.vpcId,
      privateIpAddress: instance.privateAddress,
      ipAddress: instance.publicAddress,
      sourceDestCheck: first?.sourceDestCheck,
      groupSet: groupItems(first?.securityGroupIds ?? [], names),
    }),
    architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64',
    hypervisor: 'nitro',
    tagSet: tagItems({ Name: instance.name, ...instance.tags }),
    networkInterfaceSet: interfaces.map((item) => instanceInterface(item, names, region)),
  };
}

const fields: FilterFields<Instance> = {
  'instance-id': ({ id }) => [id],
  'instance-state-name': ({ state }) => [state],
  'instance-state-code': ({ state }) => [String(stateCodes[state])],
  'instance-type': ({ type }) => [type],
  'private-dns-name': (instance) => [dnsNameOf(instance)],
  'private-ip-address': ({ privateAddress }) => [privateAddress],
  'network-interface.private-dns-name': (instance) => [dnsNameOf(instance)],
  'ip-address': ({ publicAddress }) => [publicAddress],
  'availability-zone': ({ zone }) => [zone],
  'subnet-id': ({ subnetId }) => [subnetId],
  'vpc-id': ({ vpcId }) => [vpcId],
};

/** Throws as EC2 does when one of them is not known. */
function chosen(all: readonly Instance[], ids: readonly string[]): Instance[] {
  const malformed = ids.find((id) => !/^i-[0-9a-f]{8,17}$/.test(id));
  if (malformed !== undefined) throw new AwsError('InvalidInstanceID.Malformed', `Invalid id: "${malformed}"`);
  const byId = new Map(all.map((instance) => [instance.id, instance]));
  const unknown = ids.filter((id) => !byId.has(id));
  if (unknown.length > 0)
    throw new AwsError(
      'InvalidInstanceID.NotFound',
      unknown.length === 1
        ? `The instance ID '${unknown[0]}' does not exist`
        : `The instance IDs '${unknown.join(', ')}' do not exist`,
    );
  return ids.length === 0 ? [...all] : [...new Set(ids)].flatMap((id) => byId.get(id) ?? []);
}

const describeInstances: Action = async (account, parameters) => {
  const [all, interfaces, names] = await Promise.all([allInstances(account), interfacesByInstance(account), groupNames(account)]);
  const found = filtered(chosen(all, parameters.list('InstanceId')), parameters, fields);
  const { items, next } = pageOf(found, { size: parameters.integer('MaxResults'), token: parameters.get('NextToken') });
  return {
    reservationSet: items.map((instance) => ({
      reservationId: `r-${digest(instance.id, 17)}`,
      ownerId: accountId,
      groupSet: [],
      instancesSet: [instanceXml(instance, interfaces.get(instance.id) ?? [], names, account.region)],
    })),
    nextToken: next,
  };
};

type Power = 'startInstance' | 'stopInstance' | 'terminateInstance';

const power =
  (operation: Power): Action =>
  async (account, parameters) => {
    const before = chosen(await allInstances(account), idsOf(parameters));
    const changed: Xml[] = [];
    for (const { id, state } of before) {
      const after = await account.cloud[operation]({ instanceId: id });
      changed.push({ instanceId: id, currentState: stateXml(after.state), previousState: stateXml(state) });
    }
    return { instancesSet: changed };
  };

function idsOf(parameters: Parameters): string[] {
  const ids = parameters.list('InstanceId');
  if (ids.length === 0) throw missing('InstanceId');
  return ids;
}

const reboot: Action = async (account, parameters) => {
  for (const { id } of chosen(await allInstances(account), idsOf(parameters)))
    await account.cloud.rebootInstance({ instanceId: id });
  return { return: true };
};

async function firstInterface(account: Account, instanceId: string): Promise<NetworkInterface> {
  const [instance] = chosen(await allInstances(account), [instanceId]);
  const [first] = (await interfacesByInstance(account)).get(instanceId) ?? [];
  if (!first) throw new AwsError('IncorrectInstanceState', `The instance '${instanceId}' is '${instance?.state}'`);
  return first;
}

const modifyAttribute: Action = async (account, parameters) => {
  const check = parameters.part('SourceDestCheck').boolean('Value');
  if (check === undefined) throw unsupported('ModifyInstanceAttribute changes the source/destination check only');
  const { id } = await firstInterface(account, parameters.need('InstanceId'));
  await account.cloud.modifyInterface({ interfaceId: id, sourceDestCheck: check });
  return { return: true };
};

/** The local cloud has one machine behind it, and so no topology. */
const describeTopology: Action = async (account, parameters) => {
  chosen(await allInstances(account), parameters.list('InstanceId'));
  return { instanceSet: [] };
};

export const instanceActions: Actions = {
  DescribeInstances: describeInstances,
  DescribeInstanceTopology: describeTopology,
  StartInstances: power('startInstance'),
  StopInstances: power('stopInstance'),
  TerminateInstances: power('terminateInstance'),
  RebootInstances: reboot,
  ModifyInstanceAttribute: modifyAttribute,
  RunInstances: () => Promise.reject(unsupported('an instance is made with: sagong node add')),
};
