// Operations on load balancers. Pure.
import * as z from 'zod';
import { once } from '#utils';
import { healthCheck, listener, listenersMax, loadBalancer, sourceRangesMax } from '../model/index.ts';
import { creation, operation, page, paging } from './operation.ts';

const listeners = once(() => z.array(listener()).max(listenersMax));
const sourceRanges = once(() => z.array(z.cidrv4()).max(sourceRangesMax));
const targets = once(() => z.array(z.strictObject({ instanceId: z.string() })).max(5000));
const affinityTimeoutSeconds = once(() => z.int().min(1).max(86_400));
const change = <const Path extends string, Body extends z.ZodObject>(path: Path, body: () => Body, summary: string) =>
  operation({ method: 'PUT', path, summary, body, response: loadBalancer, success: 200 });

export const loadBalancerOperations = {
  createLoadBalancer: operation({
    method: 'POST',
    path: '/v1/load-balancers',
    summary: 'Make a load balancer. Its name is its own in the account.',
    body: () =>
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/, 'letters, digits and dashes, at most 63'),
        kind: loadBalancer().shape.kind.default('proxy'),
        scheme: loadBalancer().shape.scheme.default('internet-facing'),
        subnetIds: z.array(z.string()).min(1).max(16),
        /** A free public (or for `internal` private) address, or an allocated one that is associated with nothing. Default: any. */
        address: z.ipv4().optional(),
        listeners: listeners().default([]),
        sourceRanges: sourceRanges().default(['0.0.0.0/0']),
        healthCheck: healthCheck().optional(),
        proxyProtocol: loadBalancer().shape.proxyProtocol.default('none'),
        affinityTimeoutSeconds: affinityTimeoutSeconds().optional(),
        targets: targets().default([]),
        ...creation(),
      }),
    response: loadBalancer,
    success: 201,
  }),
  listLoadBalancers: operation({
    method: 'GET',
    path: '/v1/load-balancers',
    summary: 'List load balancers.',
    query: () => z.strictObject({ name: z.string().optional(), vpcId: z.string().optional(), ...paging() }),
    response: page(loadBalancer),
    success: 200,
  }),
  getLoadBalancer: operation({
    method: 'GET',
    path: '/v1/load-balancers/{loadBalancerId}',
    summary: 'One load balancer, with the health of its targets.',
    response: loadBalancer,
    success: 200,
  }),
  modifyLoadBalancer: operation({
    method: 'PATCH',
    path: '/v1/load-balancers/{loadBalancerId}',
    summary: 'Set several sides at once; null takes a health check or the affinity away. All of it or nothing is done.',
    body: () =>
      z.strictObject({
        listeners: listeners().optional(),
        sourceRanges: sourceRanges().optional(),
        healthCheck: healthCheck().nullable().optional(),
        proxyProtocol: loadBalancer().shape.proxyProtocol.optional(),
        affinityTimeoutSeconds: affinityTimeoutSeconds().nullable().optional(),
        targets: targets().optional(),
      }),
    response: loadBalancer,
    success: 200,
  }),
  putListeners: change(
    '/v1/load-balancers/{loadBalancerId}/listeners',
    () => z.strictObject({ listeners: listeners() }),
    'Set all protocols and ports.',
  ),
  putHealthCheck: change(
    '/v1/load-balancers/{loadBalancerId}/health-check',
    () => z.strictObject({ healthCheck: healthCheck().optional() }),
    'Set how targets are checked; without one they are taken as healthy.',
  ),
  putSourceRanges: change(
    '/v1/load-balancers/{loadBalancerId}/source-ranges',
    () => z.strictObject({ sourceRanges: sourceRanges() }),
    'Set who may use it.',
  ),
  putAffinity: change(
    '/v1/load-balancers/{loadBalancerId}/affinity',
    () => z.strictObject({ affinityTimeoutSeconds: affinityTimeoutSeconds().optional() }),
    'Set how long a client keeps its target; without a time: not at all.',
  ),
  putProxyProtocol: change(
    '/v1/load-balancers/{loadBalancerId}/proxy-protocol',
    () => z.strictObject({ proxyProtocol: loadBalancer().shape.proxyProtocol }),
    'Set whether targets are told the client by the PROXY protocol. Only of `proxy` load balancers.',
  ),
  putTargets: change(
    '/v1/load-balancers/{loadBalancerId}/targets',
    () => z.strictObject({ targets: targets() }),
    'Set all targets. The health of those that stay is kept.',
  ),
  deleteLoadBalancer: operation({
    method: 'DELETE',
    path: '/v1/load-balancers/{loadBalancerId}',
    summary: 'Remove a load balancer; its address is free again, unless it was allocated.',
    success: 204,
  }),
};
