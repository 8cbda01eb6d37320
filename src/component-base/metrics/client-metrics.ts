// Metrics of what every client of the API has: work queues and requests (k8s.io/component-base/metrics/prometheus/workqueue and restclient).
import { exponentialBuckets, type Metrics } from './metrics.ts';

/** Receives what happens in one work queue, and counts it. */
export interface WorkQueueMetrics {
  added(depth: number): void;
  /** A key is handed out after it waited. */
  taken(waitedMs: number, depth: number): void;
  done(workedMs: number): void;
  retried(): void;
  /** Ages of what is in work, in milliseconds; asked at each scrape. */
  watch(ages: () => readonly number[]): void;
}

/** Makes the families; the queues of one process share what this gives. */
export function workQueueMetrics(metrics: Metrics): (queue: string) => WorkQueueMetrics {
  const labels = ['name'];
  const sources = new Map<string, () => readonly number[]>();
  const buckets = exponentialBuckets(1e-8, 10, 12);
  const gauge = (name: string, help: string, of: (seconds: readonly number[]) => number) =>
    metrics.gauge({
      name,
      help,
      labels,
      collect(family) {
        for (const [queue, ages] of sources) family.set(of(ages().map((ms) => ms / 1000)), queue);
      },
    });
  const depth = metrics.gauge({ name: 'workqueue_depth', help: 'Keys that wait.', labels });
  const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Keys added.', labels });
  const retries = metrics.counter({ name: 'workqueue_retries_total', help: 'Keys added again after a failure.', labels });
  const waits = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long keys wait in the queue.',
    labels,
    buckets,
  });
  const works = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long the work on a key takes.',
    labels,
    buckets,
  });
  gauge('workqueue_unfinished_work_seconds', 'Age of all work in progress, added up.', (ages) =>
    ages.reduce((sum, age) => sum + age, 0),
  );
  gauge('workqueue_longest_running_processor_seconds', 'Age of the oldest work in progress.', (ages) => Math.max(0, ...ages));
  return (queue) => {
    const [depthOf, addsOf, retriesOf] = [depth.labels(queue), adds.labels(queue), retries.labels(queue)];
    const [waitsOf, worksOf] = [waits.labels(queue), works.labels(queue)];
    return {
      added(waiting) {
        addsOf.inc();
        depthOf.set(waiting);
      },
      taken(waitedMs, waiting) {
        waitsOf.observe(waitedMs / 1000);
        depthOf.set(waiting);
      },
      done: (workedMs) => worksOf.observe(workedMs / 1000),
      retried: () => retriesOf.inc(),
      watch: (ages) => void sources.set(queue, ages),
    };
  };
}

/** Called for each request that ended: `code` is the status, or `<error>` when there was no answer. */
export type RestClientMetrics = (request: { method: string; host: string; code: string; durationMs: number }) => void;

export function restClientMetrics(metrics: Metrics): RestClientMetrics {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API by status, method and host.',
    labels: ['code', 'method', 'host'],
  });
  const durations = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Time of requests to the API by verb and host.',
    labels: ['verb', 'host'],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  });
  return ({ method, host, code, durationMs }) => {
    requests.inc(1, code, method, host);
    durations.observe(durationMs / 1000, method, host);
  };
}
