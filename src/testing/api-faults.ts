// Failures of a test cluster's API on request, for whoever asks it, in memory or over TLS: what crowded, restarting and half-reachable servers do to
// clients. Rules say whom they meet; by its seed a rule fails the same ones of its requests each time.
import {
  conflict,
  expired,
  expiredMessages,
  modifiedMessage,
  StatusError,
  type StatusReason,
  tooManyRequests,
} from '#apimachinery/errors';
import { type Clock, type Rng, seededRng } from '#utils';

/** Who asks for what, as authorization sees it. */
export interface AskedOfApi {
  user: { name: string };
  verb: string;
  target?: { group: string; resource: string; subresource: string; namespace: string; name: string } | undefined;
}

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;
export type ApiVerb = (typeof verbs)[number];

export type ApiFault =
  /** 409 to updates and patches: somebody else was quicker. */
  | { kind: 'conflict' }
  /** 429 with `Retry-After`; default 1 second. */
  | { kind: 'throttle'; retryAfterSeconds?: number }
  /** This status; default 500 InternalError. */
  | { kind: 'error'; code?: number; reason?: StatusReason; message?: string }
  /** 410 to lists and watches: the client has to list anew. */
  | { kind: 'expired' }
  /** The connection is closed without an answer, and nothing was done. */
  | { kind: 'outage' }
  /** A write is carried out, then the connection is closed without an answer. */
  | { kind: 'lost-answer' }
  /** Answers come later by `ms` and up to `jitterMs` more. Goes together with every other fault. */
  | { kind: 'latency'; ms: number; jitterMs?: number }
  /** A watch breaks off `afterMs` after its start; default: each after a part of a minute. */
  | { kind: 'drop-watch'; afterMs?: number };

/** Whom a rule meets. What is absent meets all; names may end in `*`. */
export interface ApiFaultFilter {
  /** Names of users. Default: everyone but the cluster's own components. */
  users?: readonly string[];
  /** As in RBAC rules: `pods`, `pods/status`; of any group. */
  resources?: readonly string[];
  namespaces?: readonly string[];
}

export interface ApiFaultRule extends ApiFaultFilter {
  fault: ApiFault;
  verbs?: readonly ApiVerb[];
  names?: readonly string[];
  /** Share of the requests met, 0 to 1. Default 1. */
  probability?: number;
  /** How often it happens at most. Default: without end. */
  times?: number;
  /** Default 1. */
  seed?: number;
}

/** What the rules make of a request that is let through. */
export interface Effects {
  outage: boolean;
  loseAnswer: boolean;
  /** The watch is to break off after that. */
  dropAfterMs: number | undefined;
}

export interface InjectedFault {
  /** How often so far. */
  readonly happened: number;
  /** It happens no more. */
  stop(): void;
}

const ownComponents = ['system:kube-*', 'system:node:*', 'system:serviceaccount:kube-system:*', 'system:apiserver'];
const watchLifeMsMax = 60_000;

const fits = (patterns: readonly string[] | undefined, text: string): boolean =>
  patterns?.some((one) => (one.endsWith('*') ? text.startsWith(one.slice(0, -1)) : one === text)) ?? true;

export function meets(filter: ApiFaultFilter, { user, target }: AskedOfApi): boolean {
  if (filter.users ? !fits(filter.users, user.name) : fits(ownComponents, user.name)) return false;
  if (!target) return !filter.resources && !filter.namespaces;
  const { resource: plural, subresource } = target;
  return fits(filter.resources, subresource ? `${plural}/${subresource}` : plural) && fits(filter.namespaces, target.namespace);
}

const isWrite = (verb: string): boolean => !['get', 'list', 'watch'].includes(verb);

/** Whether a fault can happen to that request at all. */
function applies({ kind }: ApiFault, verb: string): boolean {
  switch (kind) {
    case 'conflict':
      return verb === 'update' || verb === 'patch';
    case 'expired':
      return verb === 'list' || verb === 'watch';
    case 'lost-answer':
      return isWrite(verb);
    case 'drop-watch':
      return verb === 'watch';
    default:
      return true;
  }
}

/** Throws a RangeError that names what makes no sense. */
function checkRule({ probability = 1, times = 1, verbs: asked = [] }: ApiFaultRule): void {
  if (!(probability >= 0 && probability <= 1)) throw new RangeError(`a probability is between 0 and 1, not ${probability}`);
  if (!(times >= 0)) throw new RangeError(`a fault happens at most 0 times or more, not ${times}`);
  const unknown = asked.find((verb) => !verbs.includes(verb));
  if (unknown !== undefined) throw new RangeError(`there is no verb ${JSON.stringify(unknown)}; there are: ${verbs.join(', ')}`);
}

class Rule implements InjectedFault {
  readonly rule: ApiFaultRule;
  readonly rng: Rng;
  happened = 0;
  readonly #remove: (rule: Rule) => void;

  constructor(rule: ApiFaultRule, remove: (rule: Rule) => void) {
    this.rule = rule;
    this.rng = seededRng(rule.seed ?? 1);
    this.#remove = remove;
  }
  stop(): void {
    this.#remove(this);
  }
  /** Draws one random value for each request it meets, so that the n-th one has the same fate each time. */
  strikes(asked: AskedOfApi): boolean {
    const { fault, verbs: wanted, names, probability = 1, times = Number.POSITIVE_INFINITY } = this.rule;
    if (!applies(fault, asked.verb) || !meets(this.rule, asked)) return false;
    if (wanted && !wanted.includes(asked.verb as ApiVerb)) return false;
    if (names && !(asked.target && fits(names, asked.target.name))) return false;
    if (this.rng.next() >= probability || this.happened >= times) return false;
    this.happened += 1;
    return true;
  }
}

export class FaultRules {
  readonly #rules = new Set<Rule>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }
  get empty(): boolean {
    return this.#rules.size === 0;
  }
  add(rule: ApiFaultRule): InjectedFault {
    checkRule(rule);
    const added = new Rule(rule, (one) => this.#rules.delete(one));
    this.#rules.add(added);
    return added;
  }
  clear(): void {
    this.#rules.clear();
  }
  /** What becomes of a request; rejects with what is answered instead of doing it. Of several failures the rule added first decides. */
  async judge(asked: AskedOfApi): Promise<Effects> {
    const effects: Effects = { outage: false, loseAnswer: false, dropAfterMs: undefined };
    let refusal: Error | undefined;
    let latencyMs = 0;
    for (const rule of this.#rules) {
      const { fault } = rule.rule;
      const failed = refusal !== undefined || effects.outage;
      if ((failed && fault.kind !== 'latency') || !rule.strikes(asked)) continue;
      if (fault.kind === 'latency') latencyMs += fault.ms + (fault.jitterMs ? rule.rng.int(fault.jitterMs + 1) : 0);
      else if (fault.kind === 'outage') effects.outage = true;
      else if (fault.kind === 'lost-answer') effects.loseAnswer = true;
      else if (fault.kind === 'drop-watch') effects.dropAfterMs = fault.afterMs ?? rule.rng.int(watchLifeMsMax);
      else refusal = refusalOf(fault, asked);
    }
    if (latencyMs > 0) await this.#clock.sleep(latencyMs);
    if (refusal) throw refusal;
    return effects;
  }
}

function refusalOf(
  fault: Extract<ApiFault, { kind: 'conflict' | 'throttle' | 'error' | 'expired' }>,
  { target }: AskedOfApi,
): StatusError {
  switch (fault.kind) {
    case 'conflict': {
      const { group = '', resource: plural = '', name = '' } = target ?? {};
      return conflict({ group, resource: plural }, name, modifiedMessage);
    }
    case 'throttle':
      return tooManyRequests('Too many requests, please try again later.', fault.retryAfterSeconds ?? 1);
    case 'expired':
      return expired(expiredMessages.resourceVersion);
    case 'error': {
      const { code = 500, reason = 'InternalError', message = 'Internal error occurred: injected fault' } = fault;
      return new StatusError({ code, reason, message });
    }
  }
}
