// The resources that the provider works with, each kind with the same few methods, on Azure's own clients. A change resolves once its operation is done:
// Azure answers at once, and does the work in its own time.
import type {
  VirtualMachine,
  VirtualMachineScaleSet,
  VirtualMachineScaleSetUpdate,
  VirtualMachineScaleSetVM,
} from '@azure/arm-compute';
import type {
  LoadBalancer,
  NetworkInterface,
  NetworkSecurityGroup,
  PublicIPAddress,
  RouteTable,
  Subnet,
} from '@azure/arm-network';
import type { Clock } from 'sagong/cloud-provider';
import { poll } from 'sagong/cloud-provider/kit';
import { listItemsMax, listPagesMax, operationAgainMs, operationDeadlineMs, operationEveryMs } from '../limits.ts';
import type { Clients } from './clients.ts';

export interface Collection<T> {
  /** Rejects with kind `absent` when there is none. */
  get(group: string, name: string, signal?: AbortSignal): Promise<T>;
  list(group: string, signal?: AbortSignal): Promise<T[]>;
  /** Writes it whole. With an `etag` only over that version, without one only where there is none; else it rejects with kind `conflict`. */
  put(group: string, name: string, thing: T, signal?: AbortSignal): Promise<T>;
  delete(group: string, name: string, signal?: AbortSignal): Promise<void>;
}

export interface Arm {
  loadBalancers: Collection<LoadBalancer>;
  publicIps: Collection<PublicIPAddress>;
  securityGroups: Collection<NetworkSecurityGroup>;
  routeTables: Collection<RouteTable>;
  interfaces: Collection<NetworkInterface>;
  subnet(group: string, network: string, name: string, signal?: AbortSignal): Promise<Subnet>;
  machine(group: string, name: string, signal?: AbortSignal): Promise<VirtualMachine>;
  machines(group: string, signal?: AbortSignal): Promise<VirtualMachine[]>;
  scaleSet(group: string, name: string, signal?: AbortSignal): Promise<VirtualMachineScaleSet>;
  scaleSets(group: string, signal?: AbortSignal): Promise<VirtualMachineScaleSet[]>;
  changeScaleSet(group: string, name: string, change: VirtualMachineScaleSetUpdate, signal?: AbortSignal): Promise<void>;
  /** One machine of a scale set, with its power state. */
  member(group: string, scaleSet: string, instance: string, signal?: AbortSignal): Promise<VirtualMachineScaleSetVM>;
  members(group: string, scaleSet: string, signal?: AbortSignal): Promise<VirtualMachineScaleSetVM[]>;
  putMember(group: string, scaleSet: string, member: VirtualMachineScaleSetVM, signal?: AbortSignal): Promise<void>;
  memberInterfaces(group: string, scaleSet: string, instance: string, signal?: AbortSignal): Promise<NetworkInterface[]>;
}

interface Options {
  abortSignal?: AbortSignal;
  requestOptions?: { customHeaders?: Record<string, string> };
}
/** The SDK's pollers of both generations. */
interface Poller {
  poll(options?: { abortSignal?: AbortSignal }): Promise<unknown>;
  isDone: boolean | (() => boolean);
}
interface Pages<T> {
  byPage(): AsyncIterable<readonly T[]>;
}
interface Operations<T> {
  get(group: string, name: string, options?: Options): Promise<T>;
  list(group: string, options?: Options): Pages<T>;
  beginCreateOrUpdate(group: string, name: string, thing: T, options?: Options): Promise<Poller & { getResult(): T | undefined }>;
  beginDelete(group: string, name: string, options?: Options): Promise<Poller>;
}

const signalled = (signal: AbortSignal | undefined): { abortSignal?: AbortSignal } => (signal ? { abortSignal: signal } : {});
const condition = (etag: string | undefined): Record<string, string> =>
  etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag };
const isDone = ({ isDone: done }: Poller): boolean => (typeof done === 'function' ? done() : done);

/** What was asked for. Throws for an answer that is no resource: it does not say that there is none, nor what it is made of. */
function shown<T>(name: string, thing: T): T {
  if (typeof (thing as { id?: unknown } | null | undefined)?.id !== 'string') throw new Error(`the answer is not ${name}`);
  return thing;
}

async function all<T>(list: Pages<T>): Promise<T[]> {
  const items: T[] = [];
  let pages = 0;
  for await (const page of list.byPage()) {
    // Also pages without items must come to an end.
    if (++pages > listPagesMax) throw new Error(`the list has more than ${listPagesMax} pages`);
    if (!Array.isArray(page)) throw new Error('the page of a list is no list');
    if (items.length + page.length > listItemsMax) throw new Error(`the list has more than ${listItemsMax} items`);
    for (const item of page) items.push(shown('a list of resources', item as T));
  }
  return items;
}

export function createArm({ network, compute }: Clients, clock: Clock): Arm {
  /** Waits for an operation that has begun. */
  const finish = (what: string, poller: Poller, signal: AbortSignal | undefined): Promise<void> =>
    poll<void>({
      what,
      clock,
      everyMs: operationEveryMs,
      deadlineMs: operationDeadlineMs,
      againAfterMs: operationAgainMs,
      ...(signal && { signal }),
      async ask() {
        if (!isDone(poller)) await poller.poll(signalled(signal));
        return isDone(poller) ? { done: true, value: undefined } : { done: false };
      },
    });

  const collection = <T extends { etag?: string }>(kind: string, operations: Operations<T>): Collection<T> => ({
    get: async (group, name, signal) => shown(name, await operations.get(group, name, signalled(signal))),
    list: (group, signal) => all(operations.list(group, signalled(signal))),
    async put(group, name, thing, signal) {
      const options = { ...signalled(signal), requestOptions: { customHeaders: condition(thing.etag) } };
      const poller = await operations.beginCreateOrUpdate(group, name, thing, options);
      await finish(`the change of ${kind} ${name}`, poller, signal);
      return poller.getResult() ?? thing;
    },
    async delete(group, name, signal) {
      await finish(`the deletion of ${kind} ${name}`, await operations.beginDelete(group, name, signalled(signal)), signal);
    },
  });
  const { virtualMachines, virtualMachineScaleSets, virtualMachineScaleSetVMs } = compute;
  return {
    loadBalancers: collection('load balancer', network.loadBalancers),
    publicIps: collection('public IP', network.publicIPAddresses),
    securityGroups: collection('security group', network.networkSecurityGroups),
    routeTables: collection('route table', network.routeTables),
    interfaces: collection('network interface', network.networkInterfaces),
    subnet: async (group, name, subnet, signal) =>
      shown(subnet, await network.subnets.get(group, name, subnet, signalled(signal))),
    machine: async (group, name, signal) =>
      shown(name, await virtualMachines.get(group, name, { expand: 'instanceView', ...signalled(signal) })),
    machines: (group, signal) => all(virtualMachines.list(group, signalled(signal))),
    scaleSet: async (group, name, signal) => shown(name, await virtualMachineScaleSets.get(group, name, signalled(signal))),
    scaleSets: (group, signal) => all(virtualMachineScaleSets.list(group, signalled(signal))),
    async changeScaleSet(group, name, change, signal) {
      const poller = virtualMachineScaleSets.update(group, name, change, signalled(signal));
      await poller.submitted();
      await finish(`the change of scale set ${name}`, poller, signal);
    },
    member: async (group, scaleSet, instance, signal) =>
      shown(
        instance,
        await virtualMachineScaleSetVMs.get(group, scaleSet, instance, { expand: 'instanceView', ...signalled(signal) }),
      ),
    members: (group, scaleSet, signal) => all(virtualMachineScaleSetVMs.list(group, scaleSet, signalled(signal))),
    async putMember(group, scaleSet, member, signal) {
      const { instanceId = '', etag } = member;
      const options = { ...signalled(signal), ...(etag !== undefined && { ifMatch: etag }) };
      const poller = virtualMachineScaleSetVMs.update(group, scaleSet, instanceId, member, options);
      await poller.submitted();
      await finish(`the change of ${scaleSet}/${instanceId}`, poller, signal);
    },
    memberInterfaces: (group, scaleSet, instance, signal) =>
      all(network.networkInterfaces.listVirtualMachineScaleSetVMNetworkInterfaces(group, scaleSet, instance, signalled(signal))),
  };
}
