// Route tables.
import type { Instance, Route, RouteTable, Subnet } from '../../../model/index.ts';
import { listAll } from '../../../client/index.ts';
import { accountId, type Account, type Action, type Actions, tagItems } from '../account.ts';
import { AwsError, missing, unsupported } from '../errors.ts';
import { filtered } from '../pages.ts';
import type { Parameters } from '../parameters.ts';
import type { Xml } from '../xml.ts';
import { paged } from './networks.ts';
import { allInstances, interfacesByInstance } from './world.ts';

const short = (id: string): string => id.slice(id.indexOf('-') + 1);

function routeXml(
  { destination, target, state }: Route,
  { vpcId }: RouteTable,
  firstInterfaces: ReadonlyMap<string, string>,
): Xml {
  const origin = target.kind === 'local' ? 'CreateRouteTable' : 'CreateRoute';
  const common = { destinationCidrBlock: destination, state, origin };
  switch (target.kind) {
    case 'local':
      return { ...common, gatewayId: 'local' };
    case 'internet-gateway':
      return { ...common, gatewayId: `igw-${short(vpcId)}` };
    case 'instance':
      return {
        ...common,
        instanceId: target.id,
        instanceOwnerId: accountId,
        networkInterfaceId: firstInterfaces.get(target.id),
      };
    case 'interface':
      return { ...common, networkInterfaceId: target.id };
  }
}

function tableXml(table: RouteTable, subnets: readonly Subnet[], firstInterfaces: ReadonlyMap<string, string>): Xml {
  const association = (id: string) => ({
    routeTableAssociationId: `rtbassoc-${short(id)}`,
    routeTableId: table.id,
    associationState: { state: 'associated' },
  });
  return {
    routeTableId: table.id,
    vpcId: table.vpcId,
    ownerId: accountId,
    routeSet: table.routes.map((route) => routeXml(route, table, firstInterfaces)),
    associationSet: table.main
      ? [{ ...association(table.id), main: true }]
      : subnets.map(({ id }) => ({ ...association(id), subnetId: id, main: false })),
    propagatingVgwSet: [],
    tagSet: tagItems(table.tags),
  };
}

const describeRouteTables: Action = async (account, parameters) => {
  const [all, subnets, interfaces] = await Promise.all([
    listAll((page) => account.cloud.listRouteTables(page)),
    listAll((page) => account.cloud.listSubnets(page)),
    interfacesByInstance(account),
  ]);
  const ids = parameters.list('RouteTableId');
  const unknown = ids.find((id) => !all.some((table) => table.id === id));
  if (unknown !== undefined) throw new AwsError('InvalidRouteTableID.NotFound', `The routeTable ID '${unknown}' does not exist`);
  const explicit = ({ id, main }: RouteTable): Subnet[] => (main ? [] : subnets.filter((subnet) => subnet.routeTableId === id));
  const found = filtered(
    all.filter(({ id }) => ids.length === 0 || ids.includes(id)),
    parameters,
    {
      'route-table-id': ({ id }) => [id],
      'vpc-id': ({ vpcId }) => [vpcId],
      'association.main': ({ main }) => [String(main)],
      'association.subnet-id': (table) => explicit(table).map(({ id }) => id),
      'route.destination-cidr-block': ({ routes }) => routes.map(({ destination }) => destination),
    },
  );
  const { items, next } = paged(found, parameters);
  const firstInterfaces = new Map([...interfaces].map(([instance, [first]]) => [instance, first?.id ?? '']));
  return { routeTableSet: items.map((table) => tableXml(table, explicit(table), firstInterfaces)), nextToken: next };
};

const destinationOf = (parameters: Parameters): string => {
  if (parameters.get('DestinationIpv6CidrBlock') !== undefined) throw unsupported('IPv6');
  return parameters.need('DestinationCidrBlock');
};

async function instanceNamed(account: Account, id: string): Promise<Instance> {
  const instance = (await allInstances(account)).find((each) => each.id === id);
  if (!instance) throw new AwsError('InvalidInstanceID.NotFound', `The instance ID '${id}' does not exist`);
  if (instance.state === 'terminated' || instance.state === 'shutting-down')
    throw new AwsError('IncorrectInstanceState', `The instance '${id}' is '${instance.state}'`);
  return instance;
}

async function targetOf(account: Account, parameters: Parameters): Promise<Exclude<Route['target'], { kind: 'local' }>> {
  const instanceId = parameters.get('InstanceId');
  const interfaceId = parameters.get('NetworkInterfaceId');
  if (instanceId !== undefined) return { kind: 'instance', id: (await instanceNamed(account, instanceId)).id };
  if (interfaceId !== undefined) return { kind: 'interface', id: interfaceId };
  if (parameters.get('GatewayId')?.startsWith('igw-')) return { kind: 'internet-gateway' };
  throw missing('InstanceId');
}

/** Routes of the local cloud have a name, and one of another name is not replaced; those of AWS have none. */
const present = async ({ cloud }: Account, routeTableId: string, destination: string): Promise<Route | undefined> =>
  (await cloud.getRouteTable({ routeTableId })).routes.find((route) => route.destination === destination);

const createRoute: Action = (account, parameters) =>
  account.facts.change(async () => {
    const [routeTableId, destination] = [parameters.need('RouteTableId'), destinationOf(parameters)];
    const target = await targetOf(account, parameters);
    if (await present(account, routeTableId, destination))
      throw new AwsError('RouteAlreadyExists', `The route identified by ${destination} already exists.`);
    await account.cloud.putRoute({ routeTableId, destination, target });
    return { return: true };
  });

const replaceRoute: Action = (account, parameters) =>
  account.facts.change(async () => {
    const [routeTableId, destination] = [parameters.need('RouteTableId'), destinationOf(parameters)];
    const target = await targetOf(account, parameters);
    const before = await present(account, routeTableId, destination);
    if (!before) throw noRoute(routeTableId, destination);
    await account.cloud.putRoute({ routeTableId, destination, target, name: before.name });
    return { return: true };
  });

const noRoute = (table: string, destination: string): AwsError =>
  new AwsError('InvalidRoute.NotFound', `no route with destination-cidr-block ${destination} in route table ${table}`);

const deleteRoute: Action = async ({ cloud }, parameters) => {
  await cloud.deleteRoute({ routeTableId: parameters.need('RouteTableId'), destination: destinationOf(parameters) });
  return { return: true };
};

export const routeActions: Actions = {
  DescribeRouteTables: describeRouteTables,
  CreateRoute: createRoute,
  ReplaceRoute: replaceRoute,
  DeleteRoute: deleteRoute,
};
