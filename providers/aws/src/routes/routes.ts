// Routes to pods in the route table of the VPC (cloud-provider-aws aws_routes.go).
import {
  CreateRouteCommand,
  DeleteRouteCommand,
  DescribeRouteTablesCommand,
  ModifyInstanceAttributeCommand,
  type RouteTable,
} from '@aws-sdk/client-ec2';
import type { Routes } from 'sagong/cloud-provider';
import { during as failing } from 'sagong/cloud-provider/kit';
import { pages } from '../clients.ts';
import type { Cloud } from '../cloud.ts';
import { absentFor } from '../errors.ts';
import { isGone } from '../instances/describe.ts';
import { pagesMax } from '../limits.ts';
import { clusterRouteTable, destination, destinationOf, podRoutes } from './route-table.ts';

async function routeTable({ api, config, identity }: Cloud, cluster: string): Promise<RouteTable> {
  const { RouteTableID } = config.Global;
  const Filters =
    RouteTableID === undefined
      ? [{ Name: 'vpc-id', Values: [identity.vpcId] }]
      : [{ Name: 'route-table-id', Values: [RouteTableID] }];
  const tables = await pages(
    (NextToken) => api.ec2(new DescribeRouteTablesCommand({ Filters, ...(NextToken !== undefined && { NextToken }) })),
    ({ RouteTables }) => RouteTables,
    ({ NextToken }) => NextToken,
    pagesMax,
  );
  return clusterRouteTable(tables, RouteTableID !== undefined, identity.cluster, cluster);
}

async function remove({ api }: Cloud, table: RouteTable, cidr: string): Promise<void> {
  await api
    .ec2(new DeleteRouteCommand({ RouteTableId: table.RouteTableId, ...destination(cidr) }))
    .catch(absentFor('InvalidRoute.NotFound'))
    .catch(failing(`error deleting AWS route (${cidr})`));
}

async function create(cloud: Cloud, cluster: string, nodeName: string, cidr: string): Promise<void> {
  const { InstanceId } = await cloud.instances.ofNode(nodeName);
  // Packets for pods carry addresses that are not the instance's.
  await cloud.api
    .ec2(new ModifyInstanceAttributeCommand({ InstanceId, SourceDestCheck: { Value: false } }))
    .catch(failing(`error configuring source-dest-check on instance ${InstanceId}`));
  const table = await routeTable(cloud, cluster);
  const present = (table.Routes ?? []).find((route) => destinationOf(route) === cidr);
  // Also one that is a black hole while its instance is stopped.
  if (present?.InstanceId === InstanceId && InstanceId !== undefined) return;
  if (present?.State === 'blackhole') await remove(cloud, table, cidr);
  await cloud.api
    .ec2(new CreateRouteCommand({ RouteTableId: table.RouteTableId, InstanceId, ...destination(cidr) }))
    .catch(failing(`error creating AWS route (${cidr})`));
}

export function routes(during: (signal?: AbortSignal) => Cloud): Routes {
  return {
    async listRoutes(cluster, signal) {
      const cloud = during(signal);
      const table = await routeTable(cloud, cluster);
      const ids = (table.Routes ?? []).flatMap(({ InstanceId }) => InstanceId ?? []);
      const found = await Promise.all([...new Set(ids)].map((id) => cloud.instances.byId(id)));
      const names = cloud.instances.nodeNames(found.flatMap((instance) => (instance && !isGone(instance) ? [instance] : [])));
      return podRoutes(table, cluster, (id) => names.get(id));
    },
    createRoute: (cluster, _nameHint, { targetNode, destinationCidr }, signal) =>
      create(during(signal), cluster, targetNode, destinationCidr),
    async deleteRoute(cluster, { destinationCidr }, signal) {
      const cloud = during(signal);
      await remove(cloud, await routeTable(cloud, cluster), destinationCidr);
    },
  };
}
