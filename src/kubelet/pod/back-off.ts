// Exponential back-off as data (client-go util/flowcontrol Backoff): 10 s, 20 s, 40 s ... up to the maximum, forgotten after twice the maximum
// without trouble.

export interface BackOff {
  delayMs: number;
  /** When the delay was last raised. */
  atMs: number;
}

export interface BackOffRule {
  initialMs: number;
  maxMs: number;
}

const expired = (entry: BackOff, atMs: number, rule: BackOffRule): boolean => atMs - entry.atMs > rule.maxMs * 2;

/** When a thing that failed at `sinceMs` may be tried again; undefined: at once. */
export function backOffUntil(entry: BackOff | undefined, sinceMs: number, nowMs: number, rule: BackOffRule): number | undefined {
  if (entry === undefined || expired(entry, nowMs, rule)) return undefined;
  const untilMs = sinceMs + entry.delayMs;
  return nowMs < untilMs ? untilMs : undefined;
}

/** The entry after one more try of a thing that failed at `sinceMs`. */
export function backOffNext(entry: BackOff | undefined, sinceMs: number, nowMs: number, rule: BackOffRule): BackOff {
  if (entry === undefined || expired(entry, sinceMs, rule)) return { delayMs: rule.initialMs, atMs: nowMs };
  return { delayMs: Math.min(entry.delayMs * 2, rule.maxMs), atMs: nowMs };
}
