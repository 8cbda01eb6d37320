// Metrics of priority and fairness by upstream's names (k8s.io/apiserver/pkg/util/flowcontrol/metrics). What stands at the levels is read when
// somebody scrapes; only what happens is counted as it does.
import type { Counter, Gauge, Histogram, Metrics } from '#component-base';
import type { Level, Levels } from './core/levels.ts';
import type { Refusal, Ticket } from './core/queue-set.ts';

const prefix = 'apiserver_flowcontrol_';
const byLevel = ['priority_level'];
const byFlow = ['priority_level', 'flow_schema'];
const waits = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

type Read = (level: Level) => number;

function levelGauges(metrics: Metrics, levels: Levels): void {
  const gauge = (name: string, help: string, read: Read): void => {
    metrics.gauge({
      name: prefix + name,
      help,
      labels: byLevel,
      collect(one) {
        for (const level of levels.all.values()) one.set(read(level), level.name);
      },
    });
  };
  gauge(
    'nominal_limit_seats',
    'Nominal number of execution seats configured for each priority level',
    ({ bounds }) => bounds.nominal,
  );
  gauge(
    'lower_limit_seats',
    'Configured lower bound on number of execution seats available to each priority level',
    ({ bounds }) => bounds.min,
  );
  gauge(
    'upper_limit_seats',
    'Configured upper bound on number of execution seats available to each priority level',
    ({ bounds }) => bounds.max,
  );
  gauge(
    'current_limit_seats',
    'current derived number of execution seats available to each priority level',
    ({ current }) => current,
  );
  gauge(
    'request_concurrency_limit',
    'Nominal number of execution seats configured for each priority level',
    ({ bounds }) => bounds.nominal,
  );
  gauge(
    'demand_seats_high_watermark',
    'High watermark, over last adjustment period, of demand_seats',
    (level) => level.queues.demand.stats.highWatermark,
  );
  gauge(
    'demand_seats_average',
    'Time-weighted average, over last adjustment period, of demand_seats',
    (level) => level.queues.demand.stats.average,
  );
  gauge(
    'demand_seats_stdev',
    'Time-weighted standard deviation, over last adjustment period, of demand_seats',
    (level) => level.queues.demand.stats.deviation,
  );
  gauge('demand_seats_smoothed', 'Smoothed seat demands', (level) => level.queues.demand.stats.smoothed);
  metrics.gauge({
    name: `${prefix}seat_fair_frac`,
    help: "Fair fraction of server's concurrency to allocate to each priority level that can use it",
    labels: [],
    collect: (one) => one.set(levels.fairFraction),
  });
}

/** Counts of requests by level and schema that stand now. */
function flowGauge(
  metrics: Metrics,
  levels: Levels,
  name: string,
  help: string,
  of: 'waiting' | 'executing',
  measure: (ticket: Ticket) => number,
): void {
  const known = new Set<string>();
  metrics.gauge({
    name: prefix + name,
    help,
    labels: byFlow,
    collect(gauge: Gauge) {
      for (const key of known) gauge.set(0, ...(JSON.parse(key) as [string, string]));
      for (const level of levels.all.values()) {
        const { queues, loose } = level.queues.dump();
        const tickets = [...queues.flatMap((queue) => queue[of]), ...(of === 'executing' ? loose : [])];
        for (const ticket of tickets) {
          known.add(JSON.stringify([level.name, ticket.schema]));
          gauge.inc(measure(ticket), level.name, ticket.schema);
        }
      }
    },
  });
}

export interface FlowMetrics {
  dispatched(level: string, schema: string, waitedSeconds: number, seats: number): void;
  executed(level: string, schema: string, type: string, seconds: number): void;
  refused(level: string, schema: string, why: Refusal): void;
}

/** What stands now. */
function standing(metrics: Metrics, levels: Levels): void {
  levelGauges(metrics, levels);
  flowGauge(
    metrics,
    levels,
    'current_inqueue_requests',
    'Number of requests currently pending in queues of the API Priority and Fairness subsystem',
    'waiting',
    () => 1,
  );
  flowGauge(
    metrics,
    levels,
    'current_inqueue_seats',
    'Number of seats currently pending in queues of the API Priority and Fairness subsystem',
    'waiting',
    ({ width }) => width,
  );
  flowGauge(
    metrics,
    levels,
    'current_executing_requests',
    'Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem',
    'executing',
    () => 1,
  );
  flowGauge(
    metrics,
    levels,
    'current_executing_seats',
    'Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem',
    'executing',
    ({ width }) => width,
  );
}

export function flowMetrics(metrics: Metrics, levels: Levels): FlowMetrics {
  standing(metrics, levels);
  const dispatched: Counter = metrics.counter({
    name: `${prefix}dispatched_requests_total`,
    help: 'Number of requests executed by API Priority and Fairness subsystem',
    labels: byFlow,
  });
  const rejected: Counter = metrics.counter({
    name: `${prefix}rejected_requests_total`,
    help: 'Number of requests rejected by API Priority and Fairness subsystem',
    labels: [...byFlow, 'reason'],
  });
  const waited: Histogram = metrics.histogram({
    name: `${prefix}request_wait_duration_seconds`,
    help: 'Length of time a request spent waiting in its queue',
    labels: [...byFlow, 'execute'],
    buckets: waits,
  });
  const executed: Histogram = metrics.histogram({
    name: `${prefix}request_execution_seconds`,
    help: 'Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority and Fairness subsystem',
    labels: [...byFlow, 'type'],
    buckets: waits,
  });
  const seats: Histogram = metrics.histogram({
    name: `${prefix}work_estimated_seats`,
    help: 'Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness',
    labels: byFlow,
    buckets: [1, 2, 4, 10, 100],
  });
  // Every request is counted here: what its labels lead to is looked up by the names that it has, without a key made of them.
  const made = (level: string, schema: string) => ({
    dispatched: dispatched.labels(level, schema),
    waited: waited.labels(level, schema, 'true'),
    seats: seats.labels(level, schema),
    executed: new Map<string, { observe(value: number): void }>(),
  });
  const known = new Map<string, Map<string, ReturnType<typeof made>>>();
  const childrenOf = (level: string, schema: string): ReturnType<typeof made> => {
    let ofLevel = known.get(level);
    if (!ofLevel) known.set(level, (ofLevel = new Map()));
    let children = ofLevel.get(schema);
    if (!children) ofLevel.set(schema, (children = made(level, schema)));
    return children;
  };
  return {
    dispatched(level, schema, waitedSeconds, width) {
      const children = childrenOf(level, schema);
      children.dispatched.inc();
      children.waited.observe(waitedSeconds);
      children.seats.observe(width);
    },
    executed(level, schema, type, seconds) {
      const children = childrenOf(level, schema).executed;
      let child = children.get(type);
      if (!child) children.set(type, (child = executed.labels(level, schema, type)));
      child.observe(seconds);
    },
    refused: (level, schema, why) => rejected.inc(1, level, schema, why),
  };
}
