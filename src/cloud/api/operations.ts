// Every operation of the cloud's HTTP API, by its operationId. Pure.
import { accountOperations } from './account.ts';
import { dnsZoneOperations } from './dns-zones.ts';
import { instanceOperations } from './instances.ts';
import { interfaceOperations } from './interfaces.ts';
import { loadBalancerOperations } from './load-balancers.ts';
import { networkOperations } from './networks.ts';
import type { InputOf, Operation, OutputOf, ParsedInputOf } from './operation.ts';
import { securityGroupOperations } from './security-groups.ts';

export const operations = {
  ...networkOperations,
  ...securityGroupOperations,
  ...interfaceOperations,
  ...instanceOperations,
  ...loadBalancerOperations,
  ...dnsZoneOperations,
  ...accountOperations,
};
export type Operations = typeof operations;
export type OperationId = keyof Operations;

/** What a caller gives; defaults may be left out. */
export type Input<Id extends OperationId> = InputOf<Operations[Id]>;
/** What the server works with; defaults are filled in. */
export type ParsedInput<Id extends OperationId> = ParsedInputOf<Operations[Id]>;
export type Output<Id extends OperationId> = OutputOf<Operations[Id]>;

/** The operations with their IDs, in the order of the table. */
export const operationEntries = Object.entries(operations) as unknown as readonly (readonly [OperationId, Operation])[];
