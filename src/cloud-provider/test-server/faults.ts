// What goes wrong with a vendor's API, on request: by rule, for the next requests of a kind, and by rate, from a seed.
import type { Rng } from '#utils';
import type { VendorRequest } from './request.ts';

export type Matcher = string | RegExp | ((request: VendorRequest) => boolean);

/** A failure of the next requests that fit. */
export interface FaultRule {
  /** Absent: any. */
  method?: string | RegExp;
  /** Matches the path without its query: the whole path, or an expression. Without it, every path matches. */
  path?: Matcher;
  /** How many fitting requests go well before the first one fails. */
  after?: number;
  /** How many requests it hits. Default 1. */
  times?: number;
  /** The answer. Without one of `status` and `drop` the request is only delayed. */
  status?: number;
  code?: string;
  message?: string;
  headers?: Readonly<Record<string, string>>;
  /** The request is carried out, and only its answer is lost to the failure. */
  afterwards?: boolean;
  /** The connection breaks in the place of an answer. */
  drop?: boolean;
  delayMs?: number;
  /** Runs when the rule hits, before the request is carried out: the instance that goes between two calls. */
  then?(request: VendorRequest): void;
}

/** Shares of all requests, 0 to 1, and times that all of them take. */
export interface FaultRates {
  /** Answered with 503 before anything happened. */
  error: number;
  /** Refused for coming too often. */
  throttle: number;
  /** Carried out, but answered with 500. */
  lostAnswer: number;
  /** The connection breaks, half of the times after the request was carried out. */
  drop: number;
  /** Changes refused because something else is under way. */
  conflict: number;
  /** Long-running operations that fail at their end. */
  lateFailure: number;
  throttleSeconds: number;
  latencyMs: number;
  latencyJitterMs: number;
  /** How long a change is not seen by questions. */
  lagMs: number;
  /** How long an operation takes. */
  operationMs: number;
}
export const noRates: Readonly<FaultRates> = {
  error: 0,
  throttle: 0,
  lostAnswer: 0,
  drop: 0,
  conflict: 0,
  lateFailure: 0,
  throttleSeconds: 1,
  latencyMs: 0,
  latencyJitterMs: 0,
  lagMs: 0,
  operationMs: 0,
};
/** Every fifth request fails, in every way that needs no time. */
export const everyFifth: Readonly<FaultRates> = {
  ...noRates,
  error: 0.08,
  throttle: 0.04,
  lostAnswer: 0.04,
  drop: 0.02,
  conflict: 0.02,
};

/** What happens to one request instead of its answer, or after it. */
export type Fault = Pick<FaultRule, 'status' | 'code' | 'message' | 'headers' | 'afterwards' | 'drop' | 'delayMs' | 'then'> & {
  /** For the counts. */
  what: string;
};

const isChange = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

const fits = (matcher: Matcher | undefined, request: VendorRequest): boolean => {
  if (matcher === undefined) return true;
  if (typeof matcher === 'string') return matcher === request.url.pathname;
  return typeof matcher === 'function' ? matcher(request) : matcher.test(request.url.pathname);
};

export class Faults {
  rates: FaultRates = { ...noRates };
  /** How often what happened. */
  readonly counts: Record<string, number> = {};
  readonly #rng: Rng;
  readonly #spared: (request: VendorRequest) => boolean;
  #rules: (FaultRule & { skip: number; left: number })[] = [];

  /** `spared` requests are never hit by rate: those for tokens and metadata, say. */
  constructor(rng: Rng, spared: (request: VendorRequest) => boolean = () => false) {
    this.#rng = rng;
    this.#spared = spared;
  }
  add(rule: FaultRule): void {
    this.#rules.push({ ...rule, skip: rule.after ?? 0, left: rule.times ?? 1 });
  }
  clear(): void {
    this.#rules = [];
    this.rates = { ...noRates };
  }
  /** From now on every change is refused for a conflict, or every operation fails at its end; without a kind, none does for this. */
  storm(kind?: 'conflict' | 'lateFailure'): void {
    this.rates = { ...this.rates, conflict: 0, lateFailure: 0, ...(kind && { [kind]: 1 }) };
  }
  /** Whether something happens that happens at this rate; it is counted. */
  happens(what: string, rate: number): boolean {
    const does = rate > 0 && this.#rng.next() < rate;
    if (does) this.counts[what] = (this.counts[what] ?? 0) + 1;
    return does;
  }
  /** What hits this request, if anything. A rule is used up by it. */
  take(request: VendorRequest): Fault | undefined {
    for (const rule of this.#rules) {
      const method =
        rule.method instanceof RegExp ? rule.method.test(request.method) : (rule.method ?? request.method) === request.method;
      if (rule.left <= 0 || !method || !fits(rule.path, request)) continue;
      if (rule.skip-- > 0) continue;
      rule.left -= 1;
      return { ...rule, what: 'rule' };
    }
    return this.#spared(request) ? undefined : this.#byRate(request);
  }
  /** How long the request is on its way, in milliseconds. */
  latencyMs(): number {
    const { latencyMs, latencyJitterMs } = this.rates;
    return latencyMs + (latencyJitterMs > 0 ? this.#rng.int(latencyJitterMs) : 0);
  }
  #byRate({ method }: VendorRequest): Fault | undefined {
    const { rates } = this;
    if (this.happens('error', rates.error)) return { what: 'error', status: 503, message: 'the service is unavailable' };
    if (this.happens('throttle', rates.throttle)) {
      const headers = { 'retry-after': String(rates.throttleSeconds) };
      return { what: 'throttle', status: 429, message: 'rate limit exceeded', headers };
    }
    if (isChange(method) && this.happens('conflict', rates.conflict))
      return { what: 'conflict', status: 409, message: 'another operation is in progress' };
    if (this.happens('lostAnswer', rates.lostAnswer))
      return { what: 'lostAnswer', status: 500, message: 'internal error', afterwards: true };
    if (this.happens('drop', rates.drop)) return { what: 'drop', drop: true, afterwards: this.#rng.int(2) === 0 };
    return undefined;
  }
}
