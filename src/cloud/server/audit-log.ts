// The last calls, for `GET /v1/events`.
import type { AuditEvent } from '../api/index.ts';
import { limits } from './limits.ts';

export interface AuditFilter {
  operation?: string | undefined;
  resourceId?: string | undefined;
  limit: number;
}

export class AuditLog {
  readonly #events: AuditEvent[] = [];

  add(event: AuditEvent): void {
    this.#events.push(event);
    if (this.#events.length > limits.auditEventsMax) this.#events.shift();
  }
  /** The newest first; of one account, or of all for undefined. */
  list(accountId: string | undefined, { operation, resourceId, limit }: AuditFilter): AuditEvent[] {
    return this.#events
      .filter(
        (event) =>
          (accountId === undefined || event.accountId === accountId) &&
          (operation === undefined || event.operation === operation) &&
          (resourceId === undefined || event.resourceId === resourceId),
      )
      .toReversed()
      .slice(0, limit);
  }
}
