// Changes of load balancers are done in the services' own time, and may fail at their end: a change resolves once its work request has succeeded.
import { poll } from 'sagong/cloud-provider/kit';
import type { BalancerApi } from '../api/balancer-api.ts';
import { WorkRequestError } from '../api/errors.ts';
import type { Balancer, WorkRequest } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { workRequestAgainMs, workRequestDeadlineMs } from '../limits.ts';

type Waiting = Pick<Cloud, 'clock' | 'signal'>;

/** Gives it as it ended, failed or not. */
const ended = ({ clock, signal }: Waiting, api: BalancerApi, id: string): Promise<WorkRequest> =>
  poll({
    what: `work request ${id}`,
    clock,
    deadlineMs: workRequestDeadlineMs,
    againAfterMs: workRequestAgainMs,
    ...(signal && { signal }),
    async ask() {
      const request = await api.workRequest(id);
      return request.state === 'waiting' ? { done: false, state: request.type } : { done: true, value: request };
    },
  });

/** Waits until a work request has ended. An ID of '' means that there is nothing to wait for. */
export async function awaitWork(waiting: Waiting, api: BalancerApi, id: string): Promise<WorkRequest | undefined> {
  if (id === '') return undefined;
  const request = await ended(waiting, api, id);
  if (request.state === 'failed') throw new WorkRequestError(request.type, id, await api.workRequestErrors(request));
  return request;
}

/**
 * Waits for somebody's change that is under way, perhaps our own whose answer was lost, because the API takes no other meanwhile. Its outcome does
 * not matter.
 */
export async function awaitOthersWork(waiting: Waiting, api: BalancerApi, balancer: Balancer): Promise<boolean> {
  const open = await api.openWorkRequests(balancer);
  for (const { id } of open) await ended(waiting, api, id);
  return open.length > 0;
}
