// Operations on zones, VPCs, subnets and route tables. Pure.
import * as z from 'zod';
import { instanceType, routeTable, routeTarget, subnet, vpc, zone } from '../model/index.ts';
import { creation, name, operation, page, paging } from './operation.ts';

const cidr = z.cidrv4();

export const networkOperations = {
  listZones: operation({
    method: 'GET',
    path: '/v1/zones',
    summary: 'The zones of the region.',
    response: page(zone),
    success: 200,
  }),
  listInstanceTypes: operation({
    method: 'GET',
    path: '/v1/instance-types',
    summary: 'What instances can be had.',
    response: page(instanceType),
    success: 200,
  }),
  createVpc: operation({
    method: 'POST',
    path: '/v1/vpcs',
    summary: 'Make a network, with its main route table and its default security group.',
    body: () => z.strictObject({ name: name.default('vpc'), cidr, ...creation() }),
    response: vpc,
    success: 201,
  }),
  listVpcs: operation({
    method: 'GET',
    path: '/v1/vpcs',
    summary: 'List networks.',
    query: () => z.strictObject({ name: name.optional(), ...paging() }),
    response: page(vpc),
    success: 200,
  }),
  getVpc: operation({ method: 'GET', path: '/v1/vpcs/{vpcId}', summary: 'One network.', response: vpc, success: 200 }),
  deleteVpc: operation({
    method: 'DELETE',
    path: '/v1/vpcs/{vpcId}',
    summary: 'Remove a network that has nothing in it but its main route table and its default security group.',
    success: 204,
  }),
  createSubnet: operation({
    method: 'POST',
    path: '/v1/subnets',
    summary: 'Make a part of a network, in one zone.',
    body: () =>
      z.strictObject({
        name: name.default('subnet'),
        vpcId: z.string(),
        zone: z.string(),
        cidr,
        /** Default: the main route table. */
        routeTableId: z.string().optional(),
        ...creation(),
      }),
    response: subnet,
    success: 201,
  }),
  listSubnets: operation({
    method: 'GET',
    path: '/v1/subnets',
    summary: 'List subnets.',
    query: () => z.strictObject({ vpcId: z.string().optional(), zone: z.string().optional(), ...paging() }),
    response: page(subnet),
    success: 200,
  }),
  getSubnet: operation({
    method: 'GET',
    path: '/v1/subnets/{subnetId}',
    summary: 'One subnet.',
    response: subnet,
    success: 200,
  }),
  modifySubnet: operation({
    method: 'PATCH',
    path: '/v1/subnets/{subnetId}',
    summary: 'Give a subnet another route table.',
    body: () => z.strictObject({ routeTableId: z.string() }),
    response: subnet,
    success: 200,
  }),
  deleteSubnet: operation({
    method: 'DELETE',
    path: '/v1/subnets/{subnetId}',
    summary: 'Remove a subnet without interfaces and load balancers.',
    success: 204,
  }),
  createRouteTable: operation({
    method: 'POST',
    path: '/v1/route-tables',
    summary: 'Make a route table; it has the local route.',
    body: () => z.strictObject({ vpcId: z.string(), ...creation() }),
    response: routeTable,
    success: 201,
  }),
  listRouteTables: operation({
    method: 'GET',
    path: '/v1/route-tables',
    summary: 'List route tables.',
    query: () => z.strictObject({ vpcId: z.string().optional(), main: z.stringbool().optional(), ...paging() }),
    response: page(routeTable),
    success: 200,
  }),
  getRouteTable: operation({
    method: 'GET',
    path: '/v1/route-tables/{routeTableId}',
    summary: 'One route table with its routes.',
    response: routeTable,
    success: 200,
  }),
  deleteRouteTable: operation({
    method: 'DELETE',
    path: '/v1/route-tables/{routeTableId}',
    summary: 'Remove a route table that no subnet uses and that is not the main one.',
    success: 204,
  }),
  putRoute: operation({
    method: 'PUT',
    path: '/v1/route-tables/{routeTableId}/routes/{destination}',
    summary:
      'Set where packets for a destination (a CIDR, percent-encoded) go. A route of another name there is not replaced: 409.',
    body: () => z.strictObject({ target: routeTarget(), name: z.string().max(512).default('') }),
    response: routeTable,
    success: 200,
  }),
  deleteRoute: operation({
    method: 'DELETE',
    path: '/v1/route-tables/{routeTableId}/routes/{destination}',
    summary: 'Remove the route to a destination.',
    /** Only the one of this name. */
    query: () => z.strictObject({ name: z.string().max(512).optional() }),
    success: 204,
  }),
};
