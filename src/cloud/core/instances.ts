// Instances: pending -> running -> stopping -> stopped -> pending, and from anywhere shutting-down -> terminated. Requests set where an instance
// is going; observations of the drivers (observe.ts) say when it is there.
import { conflicting, invalid } from '../api/errors.ts';
import type { Instance, World } from '../model/index.ts';
import { choosePublic, privateDnsName } from './allocate.ts';
import type { Changes, Outcome } from './command.ts';
import type { Context } from './context.ts';
import { newInterface } from './interfaces.ts';
import { newResource, own, put, withinAccountQuota } from './world.ts';

export const withoutRun = ({ initPid: _, stateReason: __, ...instance }: Instance): Instance => instance;

function typeNamed({ settings }: Context, name: string | undefined): string {
  const type = name === undefined ? settings.instanceTypes[0] : settings.instanceTypes.find((known) => known.name === name);
  if (!type) throw invalid('type', `there is no instance type ${name}`);
  return type.name;
}

const into = (world: World, instance: Instance): Outcome => ({ world: put(world, 'instances', instance), result: instance });
const wrongState = ({ id, state }: Instance): Error => conflicting('IncorrectInstanceState', `${id} is ${state}`);

export const instanceChanges: Changes<
  'runInstance' | 'modifyInstance' | 'startInstance' | 'stopInstance' | 'rebootInstance' | 'terminateInstance'
> = {
  runInstance(world, input, context) {
    withinAccountQuota(world, context, 'instances');
    const { account, settings } = context;
    const subnet = own(world, context, 'subnets', input.subnetId);
    const made = newInterface(world, context, subnet, { ...input, description: `primary interface of ${input.name}` });
    const publicAddress = input.assignPublicAddress
      ? choosePublic(world, settings.publicCidr, undefined, 'assignPublicAddress')
      : undefined;
    const base = newResource(world, 'instances', context, input.tags);
    const instance: Instance = {
      ...base,
      ownerId: account.id,
      name: input.name,
      type: typeNamed(context, input.type),
      zone: subnet.zone,
      region: settings.region,
      vpcId: subnet.vpcId,
      subnetId: subnet.id,
      state: 'pending',
      privateAddress: made.privateAddress,
      ...(publicAddress !== undefined && { publicAddress }),
      privateDnsName: privateDnsName(made.privateAddress, settings.region),
      interfaceIds: [made.id],
      ...(input.userData && { userData: input.userData }),
      boots: 1,
    };
    const attached = {
      ...made,
      ...(publicAddress !== undefined && { publicAddress }),
      attachment: { instanceId: base.id, deviceIndex: 0 },
    };
    const outcome = into(put(world, 'interfaces', attached), instance);
    return { ...outcome, halfway: put(world, 'interfaces', made) };
  },
  modifyInstance(world, { instanceId, name, tags, type, userData }, context) {
    const instance = own(world, context, 'instances', instanceId);
    if ((type !== undefined || userData) && instance.state !== 'stopped') throw wrongState(instance);
    return into(world, {
      ...instance,
      ...(name !== undefined && { name }),
      ...(tags && { tags }),
      ...(type !== undefined && { type: typeNamed(context, type) }),
      ...(userData && { userData }),
    });
  },
  startInstance(world, { instanceId }, context) {
    const instance = own(world, context, 'instances', instanceId);
    if (instance.state === 'pending' || instance.state === 'running') return { world, result: instance };
    if (instance.state !== 'stopped') throw wrongState(instance);
    return into(world, { ...withoutRun(instance), state: 'pending', boots: (instance.boots ?? 1) + 1 });
  },
  stopInstance(world, { instanceId }, context) {
    const instance = own(world, context, 'instances', instanceId);
    if (instance.state === 'stopping' || instance.state === 'stopped') return { world, result: instance };
    if (instance.state !== 'pending' && instance.state !== 'running') throw wrongState(instance);
    return into(world, { ...instance, state: 'stopping' });
  },
  rebootInstance(world, { instanceId }, context) {
    const instance = own(world, context, 'instances', instanceId);
    if (instance.state !== 'running') throw wrongState(instance);
    return into(world, { ...instance, boots: (instance.boots ?? 1) + 1 });
  },
  terminateInstance(world, { instanceId }, context) {
    const instance = own(world, context, 'instances', instanceId);
    if (instance.state === 'shutting-down' || instance.state === 'terminated') return { world, result: instance };
    return into(world, { ...instance, state: 'shutting-down' });
  },
};
