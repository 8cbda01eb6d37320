// Operations on instances. Pure.
import * as z from 'zod';
import { instance, instanceState, userData } from '../model/index.ts';
import { creation, name, newTags, operation, page, paging } from './operation.ts';

const action = <const Path extends string>(path: Path, summary: string) =>
  operation({ method: 'POST', path, summary, response: instance, success: 200 });

export const instanceOperations = {
  runInstance: operation({
    method: 'POST',
    path: '/v1/instances',
    summary: 'Make an instance and start it.',
    body: () =>
      z.strictObject({
        name,
        /** Default: the first of `listInstanceTypes`. */
        type: z.string().optional(),
        subnetId: z.string(),
        /** Default: any free one. */
        privateAddress: z.ipv4().optional(),
        securityGroupIds: z.array(z.string()).min(1).max(16).optional(),
        sourceDestCheck: z.boolean().default(true),
        /** Give it a public address of its own, until it is terminated. */
        assignPublicAddress: z.boolean().default(false),
        userData: userData().optional(),
        ...creation(),
      }),
    response: instance,
    success: 201,
  }),
  listInstances: operation({
    method: 'GET',
    path: '/v1/instances',
    summary: 'List instances; terminated ones are listed for a while.',
    query: () =>
      z.strictObject({
        name: name.optional(),
        vpcId: z.string().optional(),
        subnetId: z.string().optional(),
        zone: z.string().optional(),
        state: instanceState().optional(),
        privateAddress: z.string().optional(),
        privateDnsName: z.string().optional(),
        ...paging(),
      }),
    response: page(instance),
    success: 200,
  }),
  getInstance: operation({
    method: 'GET',
    path: '/v1/instances/{instanceId}',
    summary: 'One instance.',
    response: instance,
    success: 200,
  }),
  modifyInstance: operation({
    method: 'PATCH',
    path: '/v1/instances/{instanceId}',
    summary: 'Change the name or the tags (all of them), or of a stopped instance its type and user data.',
    body: () =>
      z.strictObject({
        name: name.optional(),
        tags: newTags.optional(),
        type: z.string().optional(),
        userData: userData().optional(),
      }),
    response: instance,
    success: 200,
  }),
  startInstance: action('/v1/instances/{instanceId}/start', 'Start a stopped instance.'),
  stopInstance: action('/v1/instances/{instanceId}/stop', 'Stop an instance; its disk, addresses and id stay.'),
  rebootInstance: action('/v1/instances/{instanceId}/reboot', 'Start a running instance anew.'),
  terminateInstance: action('/v1/instances/{instanceId}/terminate', 'End an instance for good.'),
};
