// Load balancers of either kind through one interface. A change begins a work request, whose ID it resolves with; '' where the service did it at once.
import { randomUUID } from 'node:crypto';
import type { Balancer, BalancerKind, NewBalancer, PieceChange, ShapeDetails, WorkRequest } from './types.ts';

export interface BalancerApi {
  kind: BalancerKind;
  /** The load balancers that are not deleted, oldest first. Without a name: all of the compartment. */
  list(compartmentId: string, displayName?: string): Promise<Balancer[]>;
  /** Rejects with kind `absent`. */
  get(id: string): Promise<Balancer>;
  /** Sent twice under one token it makes one. */
  create(balancer: NewBalancer, retryToken: string): Promise<string>;
  delete(id: string): Promise<string>;
  change(id: string, change: PieceChange): Promise<string>;
  setGroups(id: string, ids: string[]): Promise<string>;
  /** Load balancers only. */
  setShape(id: string, shapeName: string, shapeDetails: ShapeDetails | undefined): Promise<string>;
  /** Network load balancers only. */
  setIpVersion(id: string, version: string): Promise<string>;
  workRequest(id: string): Promise<WorkRequest>;
  /** Why it failed. */
  workRequestErrors(workRequest: WorkRequest): Promise<string[]>;
  /** The work requests of a load balancer that are not done yet. */
  openWorkRequests(balancer: Balancer): Promise<WorkRequest[]>;
}

export const newRetryToken = (): string => randomUUID();

export const byAge = (a: { timeCreated: string; id: string }, b: { timeCreated: string; id: string }): number =>
  a.timeCreated < b.timeCreated ? -1 : a.timeCreated > b.timeCreated ? 1 : a.id < b.id ? -1 : 1;
