// Membership of machines in a backend pool. A single machine names the pool on its network card; a member of a scale set in its own model, and the scale
// set in the one of members to come.
import type { VirtualMachineScaleSetNetworkConfiguration, VirtualMachineScaleSetVM } from '@azure/arm-compute';
import type { NetworkInterface } from '@azure/arm-network';
import { fineIfAbsent, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { Arm } from '../api/arm.ts';
import { parseId, sameText } from '../ids.ts';
import { configsOf, familyOfConfig } from '../instances/addresses.ts';
import { isGoing } from '../instances/machine.ts';
import type { Family } from '../names.ts';
import type { Stores } from '../stores.ts';

export type Change = 'join' | 'leave';

/** A network card, or a scale set's model, that is in a pool or is to be. */
export interface Backend {
  group: string;
  /** The scale set of a machine that is a member of one, with its `instance` there; a single machine has an `interfaceName`. */
  scaleSet?: string;
  instance?: string;
  interfaceName?: string;
}

export const backendKey = ({ group, scaleSet, instance, interfaceName }: Backend): string =>
  [group, scaleSet ?? 'interface', instance ?? interfaceName].join('/').toLowerCase();

/** By the ID of an IP configuration, as pools list them. */
export function backendOfConfig(id: string | undefined): Backend | undefined {
  const parsed = parseId(id);
  const [first, second] = parsed?.names ?? [];
  if (!parsed || !first) return undefined;
  if (/^virtualMachineScaleSets\//i.test(parsed.type))
    return { group: parsed.group, scaleSet: first, ...(second && { instance: second }) };
  return { group: parsed.group, interfaceName: first };
}

type Pools = readonly { id?: string }[] | undefined;
/** The list with the pool, or without it; undefined: it is like that already. */
function changedPools(pools: Pools = [], poolId: string, change: Change): { id: string }[] | undefined {
  const ids = pools.map(({ id = '' }) => ({ id }));
  const isIn = ids.some(({ id }) => sameText(id, poolId));
  if (isIn === (change === 'join')) return undefined;
  return change === 'join' ? [...ids, { id: poolId }] : ids.filter(({ id }) => !sameText(id, poolId));
}

function changedInterface(card: NetworkInterface, poolId: string, family: Family, change: Change): NetworkInterface | undefined {
  const first = configsOf(card).find((one) => familyOfConfig(one) === family);
  let isChanged = false;
  const ipConfigurations = (card.ipConfigurations ?? []).map((config) => {
    // Who leaves does so wherever it has joined.
    if (change === 'join' && config !== first) return config;
    const pools = changedPools(config.loadBalancerBackendAddressPools, poolId, change);
    isChanged ||= pools !== undefined;
    return pools ? { ...config, loadBalancerBackendAddressPools: pools } : config;
  });
  return isChanged || card.provisioningState === 'Failed' ? { ...card, ipConfigurations } : undefined;
}

type Cards = VirtualMachineScaleSetNetworkConfiguration[];
/** The cards of a machine with the change made; undefined where nothing changes. */
function changedCards(cards: Cards = [], poolId: string, family: Family, change: Change): Cards | undefined {
  const primary = cards.length === 1 ? cards[0] : cards.find((card) => card.primary);
  let isChanged = false;
  const changed = cards.map((card) => {
    const configs = card.ipConfigurations ?? [];
    const ofFamily = configs.filter((one) => familyOfConfig(one) === family);
    const first = ofFamily.find((one) => one.primary) ?? ofFamily[0];
    const ipConfigurations = configs.map((config) => {
      if (change === 'join' && (card !== primary || config !== first)) return config;
      const pools = changedPools(config.loadBalancerBackendAddressPools, poolId, change);
      isChanged ||= pools !== undefined;
      return pools ? { ...config, loadBalancerBackendAddressPools: pools } : config;
    });
    return { ...card, ipConfigurations };
  });
  return isChanged ? changed : undefined;
}

export interface MembershipDeps {
  arm: Arm;
  stores: Pick<Stores, 'interfaces'>;
}

/** Functions that change memberships. A machine that is gone counts as changed. */
export function createMembership({ arm, stores }: MembershipDeps) {
  async function changeMember(
    backend: Backend,
    poolId: string,
    family: Family,
    change: Change,
    signal?: AbortSignal,
  ): Promise<void> {
    const { group, scaleSet = '', instance = '' } = backend;
    const member: VirtualMachineScaleSetVM | undefined = await arm
      .member(group, scaleSet, instance, signal)
      .catch(undefinedIfAbsent);
    // A member that is being deleted takes no change, and leaves all pools by itself.
    if (!member || isGoing({ provisioning: member.provisioningState?.toLowerCase() ?? '' })) return;
    const cards = changedCards(member.networkProfileConfiguration?.networkInterfaceConfigurations, poolId, family, change);
    if (!cards) return;
    const { location, etag } = member;
    const wanted = {
      location,
      instanceId: instance,
      etag,
      networkProfileConfiguration: { networkInterfaceConfigurations: cards },
    };
    await arm.putMember(group, scaleSet, wanted as VirtualMachineScaleSetVM, signal).catch(fineIfAbsent);
  }
  return {
    async changeBackend(backend: Backend, poolId: string, family: Family, change: Change, signal?: AbortSignal): Promise<void> {
      if (backend.scaleSet !== undefined) return changeMember(backend, poolId, family, change, signal);
      const { group, interfaceName = '' } = backend;
      const changed = (card: NetworkInterface | undefined) => card && changedInterface(card, poolId, family, change);
      await stores.interfaces.change(group, interfaceName, changed, signal);
    },
    /** The model of members to come. */
    async changeScaleSet(
      group: string,
      name: string,
      poolId: string,
      family: Family,
      change: Change,
      signal?: AbortSignal,
    ): Promise<void> {
      const scaleSet = await arm.scaleSet(group, name, signal).catch(undefinedIfAbsent);
      const profile = scaleSet?.virtualMachineProfile?.networkProfile;
      const cards = changedCards(profile?.networkInterfaceConfigurations, poolId, family, change);
      if (!cards || scaleSet?.provisioningState === 'Deleting') return;
      const networkProfile = { networkInterfaceConfigurations: cards };
      await arm.changeScaleSet(group, name, { virtualMachineProfile: { networkProfile } }, signal).catch(fineIfAbsent);
    },
  };
}
export type Membership = ReturnType<typeof createMembership>;
