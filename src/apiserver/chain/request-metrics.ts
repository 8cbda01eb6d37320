// Request metrics by upstream's names (k8s.io/apiserver/pkg/endpoints/metrics, pkg/endpoints/filters). Labels come only from what is served and
// known: a client that makes up groups, methods or users adds no series.
import { exponentialBuckets, type Metrics } from '#component-base';
import type { ServedResource } from '../registry/generic/types.ts';
import { isLongRunning, type Request, type RequestData, type Target } from '../request/request.ts';

const latencyBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const sliBuckets = latencyBuckets.slice(2);
const sizeBuckets = [50, ...exponentialBuckets(200, 2, 14)];

/** One request that is over. `status` 0: the connection was taken over or cut off. */
export interface ObservedRequest {
  request: RequestData;
  status: number;
  seconds: number;
  /** The bytes of the answer's body, and below of the request's. */
  sentBytes: number;
  receivedBytes: number;
  /** Spent on webhooks and in queues. */
  awaySeconds: number;
}

/** What the chain tells of the requests that pass it. */
export interface RequestObserver {
  /** Gives what is called when the request, with all that it streams, is over. */
  began(request: Request): () => void;
  over(request: ObservedRequest): void;
  /** `user`: undefined where nobody was found. */
  authenticated(result: 'success' | 'failure' | 'error', seconds: number, user?: string): void;
  authorized(result: 'allowed' | 'denied' | 'error', seconds: number): void;
}

const resourceLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];

function requestFamilies(metrics: Metrics) {
  return {
    total: metrics.counter({
      name: 'apiserver_request_total',
      help: 'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
      labels: ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component', 'code'],
    }),
    durations: metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
      labels: ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
      buckets: latencyBuckets,
    }),
    sli: metrics.histogram({
      name: 'apiserver_request_sli_duration_seconds',
      help: 'Response latency distribution (not counting webhook duration and priority & fairness queue wait times) in seconds for each verb, group, version, resource, subresource, scope and component.',
      labels: resourceLabels,
      buckets: sliBuckets,
    }),
    answers: metrics.histogram({
      name: 'apiserver_response_sizes',
      help: 'Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
      labels: resourceLabels,
      buckets: exponentialBuckets(1000, 10, 7),
    }),
    bodies: metrics.histogram({
      name: 'apiserver_request_body_size_bytes',
      help: 'Apiserver request body size in bytes broken out by resource and verb.',
      labels: ['group', 'resource', 'verb'],
      buckets: sizeBuckets,
    }),
    longRunning: metrics.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.',
      labels: resourceLabels,
    }),
    inFlight: metrics.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Maximal number of currently used inflight request limit of this apiserver per request kind in last second.',
      labels: ['request_kind'],
    }),
    self: metrics.counter({
      name: 'apiserver_selfrequest_total',
      help: 'Counter of apiserver self-requests broken out for each verb, API resource and subresource.',
      labels: ['verb', 'group', 'resource', 'subresource'],
    }),
  };
}

function identityFamilies(metrics: Metrics): Pick<RequestObserver, 'authenticated' | 'authorized'> {
  const buckets = exponentialBuckets(0.001, 2, 15);
  const attempts = metrics.counter({
    ...{ name: 'authentication_attempts', help: 'Counter of authenticated attempts.', labels: ['result'] },
  });
  const durations = metrics.histogram({
    ...{ name: 'authentication_duration_seconds', help: 'Authentication duration in seconds broken out by result.' },
    ...{ labels: ['result'], buckets },
  });
  const users = metrics.counter({
    name: 'authenticated_user_requests',
    help: 'Counter of authenticated requests broken out by username.',
    labels: ['username'],
  });
  const decisions = metrics.counter({
    name: 'authorization_attempts_total',
    help: "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
    labels: ['result'],
  });
  const decisionTimes = metrics.histogram({
    ...{ name: 'authorization_duration_seconds', help: 'Authorization duration in seconds broken out by result.' },
    ...{ labels: ['result'], buckets },
  });
  return {
    authenticated(result, seconds, user) {
      attempts.inc(1, result);
      durations.observe(seconds, result);
      if (user !== undefined) users.inc(1, knownUser(user));
    },
    authorized(result, seconds) {
      decisions.inc(1, result);
      decisionTimes.observe(seconds, result);
    },
  };
}

/** The series of requests that are alike, each made when it is first used. */
interface Series {
  codes: Map<number, { inc(): void }>;
  durations?: { observe(value: number): void };
  sli?: { observe(value: number): void };
  answers?: { observe(value: number): void };
}

/** `isServed`: whether a group version, resource and subresource is something this server, or one behind it, answers. */
export function requestMetrics(metrics: Metrics, isServed: (target: Target) => boolean): RequestObserver {
  const { total, durations, sli, answers, bodies, longRunning, inFlight, self } = requestFamilies(metrics);
  for (const kind of ['mutating', 'readOnly']) inFlight.set(0, kind);
  const labelsOf = (request: RequestData): [string, string, string, string, string, string] => {
    const { target } = request;
    if (!target || !isServed(target)) return [verbOf(request), '', '', '', '', target ? scopeOf(request) : ''];
    const { group, version, resource, subresource } = target;
    return [verbOf(request), group, version, resource, subresource, scopeOf(request)];
  };
  // Every request is counted in several series: they are found by one key, because making keys costs more than counting.
  const known = new Map<string, Series>();
  const seriesOf = (key: string): Series => {
    let series = known.get(key);
    if (!series) known.set(key, (series = { codes: new Map() }));
    return series;
  };
  return {
    began(request) {
      const gauge = isLongRunning(request)
        ? longRunning.labels(...labelsOf(request), 'apiserver')
        : inFlight.labels(readOnlyVerbs.has(request.verb) ? 'readOnly' : 'mutating');
      gauge.inc();
      let counted = true;
      return () => {
        if (counted) gauge.dec();
        counted = false;
      };
    },
    over({ request, status, seconds, sentBytes, receivedBytes, awaySeconds }) {
      const labels = labelsOf(request);
      const [verb, group, , resource, subresource] = labels;
      const dryRun = dryRunOf(request);
      const series = seriesOf(`${labels.join(' ')} ${dryRun}`);
      const rest = labels.slice(1);
      // A connection taken over counts as done.
      const code = status === 0 ? 200 : status;
      let counter = series.codes.get(code);
      if (!counter) series.codes.set(code, (counter = total.labels(verb, dryRun, ...rest, 'apiserver', code)));
      counter.inc();
      if (request.via === 'memory' && request.user.name === 'system:apiserver') self.inc(1, verb, group, resource, subresource);
      if (receivedBytes > 0 && changingVerbs.has(request.verb)) bodies.observe(receivedBytes, group, resource, request.verb);
      if (request.verb === 'watch') return;
      series.durations ??= durations.labels(verb, dryRun, ...rest, 'apiserver');
      series.durations.observe(seconds);
      series.sli ??= sli.labels(verb, ...rest, 'apiserver');
      series.sli.observe(Math.max(0, seconds - awaySeconds));
      if (verb !== 'GET' && verb !== 'LIST') return;
      series.answers ??= answers.labels(verb, ...rest, 'apiserver');
      series.answers.observe(sentBytes);
    },
    ...identityFamilies(metrics),
  };
}

/** What watches send; gives for one resource what counts its events. */
export function watchMetrics(metrics: Metrics): (resource: ServedResource) => (bytes: number) => void {
  const labels = ['group', 'version', 'resource'];
  const total = metrics.counter({ name: 'apiserver_watch_events_total', help: 'Number of events sent in watch clients', labels });
  const sizes = metrics.histogram({
    name: 'apiserver_watch_events_sizes',
    help: 'Watch event size distribution in bytes',
    ...{ labels, buckets: exponentialBuckets(1024, 2, 8) },
  });
  return ({ group, version, resource }) => {
    const [counter, histogram] = [total.labels(group, version, resource), sizes.labels(group, version, resource)];
    return (bytes) => {
      counter.inc();
      histogram.observe(bytes);
    };
  };
}

const verbs: Record<string, string> = {
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
};
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT']);
const readOnlyVerbs = new Set(['get', 'list', 'watch']);
const changingVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

const verbOf = ({ target, verb, method }: RequestData): string => {
  if (target) return (Object.hasOwn(verbs, verb) && verbs[verb]) || 'other';
  return methods.has(method) ? method : 'other';
};

function scopeOf({ target, verb }: RequestData): string {
  if (!target) return '';
  if (target.name !== '' || verb === 'create') return 'resource';
  return target.namespace === '' ? 'cluster' : 'namespace';
}

function dryRunOf({ options: { dryRun = [] } }: RequestData): string {
  if (dryRun.length === 0) return '';
  return dryRun.every((one) => one === 'All') ? 'All' : 'invalid';
}

const internalUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

/** As upstream: names of users are no series. */
function knownUser(name: string): string {
  if (internalUsers.has(name)) return name;
  return name.includes('@') ? 'email_id' : 'other';
}
