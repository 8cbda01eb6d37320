// Operations that concern no single kind of resource: tags, failures on request, the log of calls. Pure.
import * as z from 'zod';
import { once } from '#utils';
import { faults, tags } from '../model/index.ts';
import { newTags, operation, page } from './operation.ts';

/** One call, as the audit log shows it. */
export const auditEvent = once(() =>
  z.object({
    time: z.iso.datetime(),
    requestId: z.string(),
    /** Absent: nobody who is known. */
    accountId: z.string().optional(),
    sourceAddress: z.string(),
    method: z.string(),
    path: z.string(),
    operation: z.string().optional(),
    /** What was made or changed. */
    resourceId: z.string().optional(),
    status: z.int(),
    errorCode: z.string().optional(),
    durationMs: z.number(),
  }),
);
export type AuditEvent = z.infer<ReturnType<typeof auditEvent>>;

export const accountOperations = {
  changeTags: operation({
    method: 'POST',
    path: '/v1/resources/{resourceId}/tags',
    summary: 'Set some tags of any resource and remove others.',
    body: () => z.strictObject({ set: newTags.default({}), remove: z.array(z.string()).max(50).default([]) }),
    response: () => z.object({ tags }),
    success: 200,
  }),
  getFaults: operation({
    method: 'GET',
    path: '/v1/faults',
    summary: 'The failures that are asked for.',
    response: faults,
    success: 200,
  }),
  putFaults: operation({
    method: 'PUT',
    path: '/v1/faults',
    summary: 'Ask for failures. These operations on faults themselves never fail.',
    body: () => z.strictObject(faults().shape),
    response: faults,
    success: 200,
  }),
  deleteFaults: operation({ method: 'DELETE', path: '/v1/faults', summary: 'Ask for no failures.', success: 204 }),
  listEvents: operation({
    method: 'GET',
    path: '/v1/events',
    summary: 'The last calls: who, what, when, and how it went. The newest first.',
    query: () =>
      z.strictObject({
        operation: z.string().optional(),
        resourceId: z.string().optional(),
        limit: z.coerce.number<number>().int().min(1).max(1000).default(100),
      }),
    response: page(auditEvent),
    success: 200,
  }),
};
