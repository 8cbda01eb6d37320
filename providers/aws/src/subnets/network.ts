// The subnets and route tables of the network as AWS last described them. Every Service asks for nearly the same ones and they seldom change, so an
// answer counts for a while; one that led to a failure is forgotten, and the next try asks AWS.
import {
  DescribeRouteTablesCommand,
  DescribeSubnetsCommand,
  type Filter,
  type RouteTable,
  type Subnet,
} from '@aws-sdk/client-ec2';
import type { Clock } from 'sagong/cloud-provider';
import { createCache, during } from 'sagong/cloud-provider/kit';
import { type Api, pages } from '../clients.ts';
import { hasCode } from '../errors.ts';
import { pagesMax, subnetsTtlMs } from '../limits.ts';

export interface Network {
  /** The subnets that pass all filters. */
  subnets(filters: readonly Filter[], signal?: AbortSignal): Promise<readonly Subnet[]>;
  /** All of the VPC. */
  routeTables(signal?: AbortSignal): Promise<readonly RouteTable[]>;
  /** What was said turned out wrong. */
  forget(): void;
}

export interface NetworkDeps {
  api(signal?: AbortSignal): Pick<Api, 'ec2'>;
  vpcId: string;
  clock: Pick<Clock, 'monotonic'>;
}

export function createNetwork({ api, vpcId, clock }: NetworkDeps): Network {
  const subnets = createCache({
    clock,
    ttlMs: subnetsTtlMs,
    read: (key, signal): Promise<readonly Subnet[]> =>
      pages(
        (NextToken) =>
          api(signal).ec2(
            new DescribeSubnetsCommand({ Filters: JSON.parse(key) as Filter[], ...(NextToken !== undefined && { NextToken }) }),
          ),
        ({ Subnets }) => Subnets,
        ({ NextToken }) => NextToken,
        pagesMax,
      ).catch(during('error describing subnets')),
  });
  const routeTables = createCache({
    clock,
    ttlMs: subnetsTtlMs,
    read: (vpc, signal): Promise<readonly RouteTable[]> => {
      const Filters = [{ Name: 'vpc-id', Values: [vpc] }];
      return pages(
        (NextToken) =>
          api(signal).ec2(new DescribeRouteTablesCommand({ Filters, ...(NextToken !== undefined && { NextToken }) })),
        ({ RouteTables }) => RouteTables,
        ({ NextToken }) => NextToken,
        pagesMax,
      ).catch(during('error describe route table'));
    },
  });
  return {
    subnets: (filters, signal) => subnets.get(JSON.stringify(filters), signal),
    routeTables: (signal) => routeTables.get(vpcId, signal),
    forget() {
      subnets.forget();
      routeTables.forget();
    },
  };
}

const refusals = ['SubnetNotFound', 'SubnetNotFoundException', 'InvalidSubnet', 'InvalidSubnetException'];

/** For `.catch` of a call that was given subnets: those that AWS does not take are looked up anew by the next try. */
export const forgettingSubnets =
  (network: Network) =>
  (error: unknown): never => {
    if (hasCode(error, ...refusals)) network.forget();
    throw error;
  };
