// Match conditions of webhooks: expressions that all have to hold before the webhook is asked (KEP-3716;
// k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions).
import type { MatchCondition } from '#api/admissionregistration/v1';
import { forbidden } from '#apimachinery/errors';
import type { AuthorizationSource } from '#cel';
import type { Metrics } from '#component-base';
import type { Clock, Logger } from '#utils';
import { PendingAnswer } from '../policy/authorization.ts';
import { BudgetError, PolicyExpressions } from '../policy/expressions.ts';
import { requestInput } from '../policy/input.ts';
import type { Sight } from '../sight.ts';

/** What a webhook says about itself, as far as conditions go. */
interface Conditional {
  name: string;
  failurePolicy?: string;
  matchConditions?: readonly MatchCondition[];
}

export interface ConditionsContext {
  clock: Clock;
  logger: Logger;
  metrics?: Metrics;
}

type Observe = (seconds: number, outcome: 'holds' | 'excludes' | 'error') => void;

/** Counts and times by upstream's names. */
function observer(metrics: Metrics | undefined, type: 'admit' | 'validate'): (name: string, operation: string) => Observe {
  if (!metrics) return () => () => undefined;
  const labels = ['name', 'kind', 'type', 'operation'];
  const errors = metrics.counter({
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    help: 'Admission match condition evaluation errors count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).',
    labels,
  });
  const exclusions = metrics.counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Admission match condition evaluation exclusions count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).',
    labels,
  });
  const times = metrics.histogram({
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    help: 'Admission match condition evaluation time in seconds, identified by name and broken out for each kind containing matchConditions (webhook or policy), operation and type (validate or admit).',
    labels,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  });
  return (name, operation) => (seconds, outcome) => {
    const values = [name, 'webhook', type, operation];
    times.observe(seconds, ...values);
    if (outcome === 'error') errors.inc(1, ...values);
    else if (outcome === 'excludes') exclusions.inc(1, ...values);
  };
}

/** Says for webhooks of one type whether the conditions hold. */
export type ConditionsCheck = (
  webhook: Conditional,
  compiled: PolicyExpressions,
  sight: Sight,
  source: AuthorizationSource,
) => boolean | Promise<boolean>;

export const compileConditions = ({ matchConditions = [] }: Conditional): PolicyExpressions | undefined =>
  matchConditions.length > 0 ? new PolicyExpressions({ matchConditions }) : undefined;

/** True, false, or why that cannot be said. Throws `PendingAnswer`. */
function evaluate(compiled: PolicyExpressions, sight: Sight, source: AuthorizationSource): boolean | string {
  try {
    return compiled.matches(requestInput(sight, source));
  } catch (error) {
    if (error instanceof BudgetError) return error.message;
    throw error;
  }
}

/** The check throws, or rejects with, 403 where the failure policy says so. */
export function conditionsCheck({ clock, logger, metrics }: ConditionsContext, type: 'admit' | 'validate'): ConditionsCheck {
  const observe = observer(metrics, type);
  const check: ConditionsCheck = (webhook, compiled, sight, source) => {
    const { request } = sight;
    const started = clock.monotonic();
    let result: boolean | string;
    try {
      result = evaluate(compiled, sight, source);
    } catch (error) {
      if (!(error instanceof PendingAnswer)) throw error;
      return error.answered.then(() => check(webhook, compiled, sight, source));
    }
    const outcome = typeof result === 'string' ? 'error' : result ? 'holds' : 'excludes';
    observe(webhook.name, request.operation)((clock.monotonic() - started) / 1000, outcome);
    if (typeof result !== 'string') return result;
    if (webhook.failurePolicy === 'Ignore') return false;
    logger.warn('Failed evaluating match conditions, failing closed', { webhook: webhook.name, err: result });
    throw forbidden({ group: request.group, resource: request.resource }, request.name, result);
  };
  return check;
}
