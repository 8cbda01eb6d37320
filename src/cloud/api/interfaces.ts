// Operations on network interfaces and on public addresses. Pure.
import * as z from 'zod';
import { address, networkInterface } from '../model/index.ts';
import { creation, description, operation, page, paging } from './operation.ts';

const groups = z.array(z.string()).min(1).max(16);

export const interfaceOperations = {
  createInterface: operation({
    method: 'POST',
    path: '/v1/interfaces',
    summary:
      "Make a network interface. In a subnet of another account only by a service: it is then the service's, and requester managed.",
    body: () =>
      z.strictObject({
        subnetId: z.string(),
        description: description.default(''),
        /** Default: any free one. */
        privateAddress: z.ipv4().optional(),
        /** Default: the default group of the VPC. */
        securityGroupIds: groups.optional(),
        sourceDestCheck: z.boolean().default(true),
        ...creation(),
      }),
    response: networkInterface,
    success: 201,
  }),
  listInterfaces: operation({
    method: 'GET',
    path: '/v1/interfaces',
    summary: 'List network interfaces: own ones, and those that services have in own subnets.',
    query: () =>
      z.strictObject({
        vpcId: z.string().optional(),
        subnetId: z.string().optional(),
        instanceId: z.string().optional(),
        privateAddress: z.string().optional(),
        ...paging(),
      }),
    response: page(networkInterface),
    success: 200,
  }),
  getInterface: operation({
    method: 'GET',
    path: '/v1/interfaces/{interfaceId}',
    summary: 'One network interface.',
    response: networkInterface,
    success: 200,
  }),
  modifyInterface: operation({
    method: 'PATCH',
    path: '/v1/interfaces/{interfaceId}',
    summary: 'Change the source/destination check, the security groups or the description.',
    body: () =>
      z.strictObject({
        sourceDestCheck: z.boolean().optional(),
        securityGroupIds: groups.optional(),
        description: description.optional(),
      }),
    response: networkInterface,
    success: 200,
  }),
  attachInterface: operation({
    method: 'POST',
    path: '/v1/interfaces/{interfaceId}/attach',
    summary: 'Give an instance one more interface.',
    body: () => z.strictObject({ instanceId: z.string(), deviceIndex: z.int().min(1).max(15).optional() }),
    response: networkInterface,
    success: 200,
  }),
  detachInterface: operation({
    method: 'POST',
    path: '/v1/interfaces/{interfaceId}/detach',
    summary: 'Take an interface from its instance; not its first one.',
    response: networkInterface,
    success: 200,
  }),
  deleteInterface: operation({
    method: 'DELETE',
    path: '/v1/interfaces/{interfaceId}',
    summary: 'Remove an interface that is attached to nothing.',
    success: 204,
  }),
  allocateAddress: operation({
    method: 'POST',
    path: '/v1/addresses',
    summary: 'Get a public address that is kept until it is released.',
    body: () => z.strictObject({ publicAddress: z.ipv4().optional(), ...creation() }),
    response: address,
    success: 201,
  }),
  listAddresses: operation({
    method: 'GET',
    path: '/v1/addresses',
    summary: 'List public addresses.',
    query: () => z.strictObject({ publicAddress: z.string().optional(), ...paging() }),
    response: page(address),
    success: 200,
  }),
  getAddress: operation({
    method: 'GET',
    path: '/v1/addresses/{addressId}',
    summary: 'One public address.',
    response: address,
    success: 200,
  }),
  associateAddress: operation({
    method: 'POST',
    path: '/v1/addresses/{addressId}/associate',
    summary: 'Translate a public address to an interface, in place of the one that the interface has by itself.',
    body: () => z.strictObject({ interfaceId: z.string() }),
    response: address,
    success: 200,
  }),
  disassociateAddress: operation({
    method: 'POST',
    path: '/v1/addresses/{addressId}/disassociate',
    summary: 'Take a public address from its interface.',
    response: address,
    success: 200,
  }),
  releaseAddress: operation({
    method: 'DELETE',
    path: '/v1/addresses/{addressId}',
    summary: 'Give back a public address that is associated with nothing.',
    success: 204,
  }),
};
