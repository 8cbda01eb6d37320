// Waiting for load balancers and addresses, which are made, bound and changed in the cloud's own time.
import { retryAfter, type Service } from 'sagong/cloud-provider';
import { poll, uidOf } from 'sagong/cloud-provider/kit';
import { isTokenUsed } from '../api/errors.ts';
import type { Balancer, Eip, EipStatus } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { settleAgainMs, settleDeadlineMs, settleEveryMs, unsettledMs } from '../limits.ts';
import { clientToken } from '../names.ts';

/** The failure of a call that met something which may exist but is not shown yet; the call is repeated. */
export const notSettled = (what: string): Error =>
  retryAfter(`${what} may have been made a moment ago, and is not shown yet`, settleAgainMs);

const pace = { everyMs: settleEveryMs, againAfterMs: settleAgainMs } as const;

/** States in which a load balancer or an address stays until somebody pays for it, or the vendor repairs it. */
const stuck: readonly string[] = ['paused', 'unavailable', 'paying'];
const stuckError = (what: string, status: string): Error => new Error(`${what} is ${status}`);

/** Waits until it is neither made nor changed. Undefined: it does not exist. */
export async function deletableBalancer({ api, clock, signal }: Cloud, id: string): Promise<Balancer | undefined> {
  return poll<Balancer | undefined>({
    what: `BLB ${id}`,
    clock,
    ...pace,
    deadlineMs: settleDeadlineMs,
    ...(signal && { signal }),
    ask: async () => {
      const found = await api.balancer(id);
      const isBusy = found?.status === 'creating' || found?.status === 'updating';
      return isBusy ? { done: false, state: found.status } : { done: true, value: found };
    },
  });
}

/** Waits until it may be changed. */
export async function availableBalancer(cloud: Cloud, id: string): Promise<Balancer> {
  const found = await deletableBalancer(cloud, id);
  if (!found) throw new Error(`BLB ${id} does not exist`);
  if (found.status !== 'available') throw stuckError(`BLB ${id}`, found.status);
  return found;
}

/** Waits until it has one of these states. Undefined: it does not exist. */
export async function settledEip(cloud: Cloud, address: string, wanted: readonly EipStatus[]): Promise<Eip | undefined> {
  const { api, clock, signal } = cloud;
  const what = `EIP ${address}`;
  return poll<Eip | undefined>({
    what,
    clock,
    ...pace,
    deadlineMs: settleDeadlineMs,
    ...(signal && { signal }),
    ask: async () => {
      const found = await api.eip(address);
      if (!found || wanted.includes(found.status)) return { done: true, value: found };
      if (stuck.includes(found.status)) throw stuckError(what, found.status);
      return { done: false, state: found.status };
    },
  });
}

export interface OnceOptions<Made> {
  /** `BLB` or `EIP`. */
  kind: string;
  service: Service;
  /** What the Service had before, and is gone. */
  before: string | undefined;
  /** Under a token that stands for this one thing. Gives its ID. */
  make(token: string): Promise<string>;
  find(id: string): Promise<Made | undefined>;
  /** Any that the Service has: somebody may have made one with the same token and other parameters. */
  findAny(): Promise<Made | undefined>;
}

/**
 * Makes something once, whoever asks how often: the token follows from the Service, and for a day the API answers it with the same thing. The token
 * of one that has gone gives nothing any more; the next one follows from it.
 */
export async function makeOnce<Made>(
  cloud: Cloud,
  { kind, service, before, make, find, findAny }: OnceOptions<Made>,
): Promise<Made> {
  const { unsettled, clock, signal } = cloud;
  const uid = uidOf(service);
  const token = clientToken(kind, uid, unsettled.last(kind, uid) ?? before ?? '');
  unsettled.begin(`${kind} ${uid}`);
  let id: string | undefined;
  try {
    id = await make(token);
  } catch (error) {
    if (!isTokenUsed(error)) throw error;
  }
  const endMs = clock.monotonic() + unsettledMs;
  return poll({
    what: `${kind} ${id ?? 'with the token of the service'}`,
    clock,
    ...pace,
    deadlineMs: 2 * unsettledMs,
    ...(signal && { signal }),
    ask: async () => {
      const value = id === undefined || unsettled.isDeleted(id) ? await findAny() : await find(id);
      if (value !== undefined) return { done: true, value };
      if (clock.monotonic() < endMs) return { done: false, state: 'it is not shown yet' };
      unsettled.noteLast(kind, uid, id ?? token);
      unsettled.end(`${kind} ${uid}`);
      throw retryAfter(`${kind} ${id ?? ''} that was made for the service has gone`, settleAgainMs);
    },
  });
}
