// The resources of Microsoft.Compute: machines, and scale sets with their members.
import { Refusal, type Routes, type VendorAnswer, type VendorRequest } from 'sagong/cloud-provider/test-server';
import { checkPool, page } from './network.ts';
import { begin, checkPreconditions } from './operations.ts';
import { resourceIn } from './requests.ts';
import { idOf, type Part, type Resource } from './resource.ts';
import type { Subscription } from './subscription.ts';

/** The power state is in the instance view, which is shown when it is asked for. */
function shown(machine: Resource, withView: boolean): Resource {
  const { power, faultDomain, ...properties } = machine.properties as Record<string, unknown> & {
    power?: string;
    faultDomain?: number;
  };
  const statuses = [
    { code: `ProvisioningState/${String(properties['provisioningState']).toLowerCase()}`, level: 'Info' },
    { code: `PowerState/${power}`, level: 'Info' },
  ];
  return {
    ...machine,
    properties: { ...properties, ...(withView && { instanceView: { platformFaultDomain: faultDomain, statuses } }) },
  };
}

function checkPools(subscription: Subscription, cards: readonly Part[]): void {
  for (const card of cards)
    for (const config of (card.properties?.['ipConfigurations'] as Part[] | undefined) ?? [])
      for (const pool of (config.properties?.['loadBalancerBackendAddressPools'] as unknown[] | undefined) ?? [])
        checkPool(subscription, idOf(pool));
}

type Cards = { networkInterfaceConfigurations?: Part[] };

type Base = { subscription: Subscription; request: VendorRequest };

const pathOf = ({ subscription, request }: Base, ...parts: string[]): string =>
  subscription.path(request.params['group'] ?? '', 'Microsoft.Compute', ...parts);
const setId = (base: Base): string => pathOf(base, 'virtualMachineScaleSets', base.request.params['set'] ?? '');
const memberId = (base: Base): string => `${setId(base)}/virtualMachines/${base.request.params['instance'] ?? ''}`;
const wantsView = ({ url }: VendorRequest): boolean => /instanceView/i.test(url.searchParams.get('$expand') ?? '');
/** What is to be changed, unless somebody else is changing it. */
function free({ subscription, request }: Base, id: string): Resource {
  const there = subscription.must(id);
  checkPreconditions(subscription, request, id);
  return there;
}

function putMember(base: Base): VendorAnswer {
  const { subscription, request } = base;
  const id = memberId(base);
  const there = free(base, id);
  const { properties = {} } = resourceIn(request);
  const cards = (properties['networkProfileConfiguration'] as Cards | undefined)?.networkInterfaceConfigurations;
  if (!cards) throw new Refusal(400, 'InvalidParameter', 'Required parameter networkProfileConfiguration is missing (null).');
  checkPools(subscription, cards);
  const networkProfileConfiguration = { networkInterfaceConfigurations: cards };
  const work = (): void => {
    const now = subscription.get(id);
    if (now) subscription.put({ ...now, properties: { ...now.properties, networkProfileConfiguration } });
  };
  const answer = begin({ subscription, request, id, kind: 'PUT', location: there.location ?? '', work }, () => undefined, 200);
  return { ...answer, body: shown({ ...there, properties: { ...there.properties, provisioningState: 'Updating' } }, false) };
}

function patchSet(base: Base): VendorAnswer {
  const { subscription, request } = base;
  const id = setId(base);
  const there = free(base, id);
  const profile = resourceIn(request).properties?.['virtualMachineProfile'] as { networkProfile?: Cards } | undefined;
  const networkProfile = profile?.networkProfile;
  checkPools(subscription, networkProfile?.networkInterfaceConfigurations ?? []);
  const work = (): void => {
    const now = subscription.get(id);
    const virtualMachineProfile = {
      ...(now?.properties['virtualMachineProfile'] as object),
      ...(networkProfile && { networkProfile }),
    };
    if (now) subscription.put({ ...now, properties: { ...now.properties, virtualMachineProfile } });
  };
  const answer = begin({ subscription, request, id, kind: 'PATCH', location: there.location ?? '', work }, () => undefined, 200);
  return { ...answer, body: { ...there, properties: { ...there.properties, provisioningState: 'Updating' } } };
}

export function computeRoutes(subscription: Subscription): Routes {
  const root = '/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute';
  const set = `${root}/virtualMachineScaleSets/{set}`;
  const machines = 'Microsoft.Compute/virtualMachines';
  const sets = 'Microsoft.Compute/virtualMachineScaleSets';
  const members = `${sets}/virtualMachines`;
  const on =
    (answer: (base: Base) => VendorAnswer) =>
    (request: VendorRequest): VendorAnswer =>
      answer({ subscription, request });
  const one = (idIn: (base: Base) => string) =>
    on((base) => ({ body: shown(subscription.must(idIn(base)), wantsView(base.request)) }));
  return {
    [`GET ${root}/virtualMachines`]: on((base) =>
      page(
        base.request,
        subscription.listed(machines, pathOf(base, 'virtualMachines')).map((machine) => shown(machine, false)),
      ),
    ),
    [`GET ${root}/virtualMachines/{name}`]: one((base) => pathOf(base, 'virtualMachines', base.request.params['name'] ?? '')),
    [`GET ${root}/virtualMachineScaleSets`]: on((base) =>
      page(base.request, subscription.listed(sets, pathOf(base, 'virtualMachineScaleSets'))),
    ),
    [`GET ${set}`]: on((base) => ({ body: subscription.must(setId(base)) })),
    [`PATCH ${set}`]: on(patchSet),
    [`GET ${set}/virtualMachines`]: on((base) => {
      subscription.must(setId(base));
      const all = subscription.listed(members, `${setId(base)}/virtualMachines`);
      return page(
        base.request,
        all.map((machine) => shown(machine, wantsView(base.request))),
      );
    }),
    [`GET ${set}/virtualMachines/{instance}`]: one(memberId),
    [`PUT ${set}/virtualMachines/{instance}`]: on(putMember),
    // Shown by the network provider, although they belong to members.
    [`GET ${set}/virtualMachines/{instance}/networkInterfaces`]: on((base) => {
      subscription.must(memberId(base));
      return page(base.request, subscription.listed(`${members}/networkInterfaces`, memberId(base)));
    }),
  };
}
