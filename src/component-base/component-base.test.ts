import { expect, test } from 'vitest';
import type { Clock } from '#utils';
import {
  answerHealth,
  createFeatureGates,
  createLogger,
  createMetrics,
  defaultLeaderElection,
  knownFeatures,
  parseFeatureGates,
  pingCheck,
  routeHealth,
  validateLeaderElection,
  versionInfo,
} from './index.ts';

const at = new Date(2026, 10, 21, 3, 4, 5, 6).getTime();
const clock: Clock = { now: () => at, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };

test('text lines have klog’s form', () => {
  const lines: string[] = [];
  const logger = createLogger({ clock, component: 'kube-scheduler', write: (line) => void lines.push(line) }).with({ node: 'a' });
  logger.info('Bound "x"', { pod: 'ns/p', n: 1, list: ['a'], error: new Error('no'), text: 'two\nlines' });
  logger.debug('hidden');
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  logger.error('odd', { circular });
  const header = (severity: string) => `${severity}1121 03:04:05.006000 ${String(process.pid).padStart(7)} kube-scheduler]`;
  expect(lines[0]).toBe(
    `${header('I')} "Bound \\"x\\"" err="no" node="a" pod="ns/p" n=1 list=["a"] text=<\n\ttwo\n\tlines\n >\n`,
  );
  expect(lines[1]).toContain(`${header('E')} "odd" node="a" circular={`);
  expect(lines).toHaveLength(2);
});

test('json lines parse, and verbosity lets debug through', () => {
  const lines: string[] = [];
  createLogger({ clock, component: 'c', format: 'json', level: 4, write: (line) => void lines.push(line) }).debug('m', {
    error: new Error('e'),
    big: 1n,
  });
  expect(JSON.parse(lines[0] as string)).toEqual({ ts: at, caller: 'c', msg: 'm', v: 4, err: 'e', big: '1' });
});

test('metrics are exposed as Prometheus text', async () => {
  const metrics = createMetrics();
  const total = metrics.counter({ name: 'apiserver_request_total', help: 'Requests', labels: ['verb', 'code'] });
  total.inc(1, 'GET', 200);
  total.labels('GET', 200).inc();
  metrics.counter({ name: 'apiserver_request_total', help: 'Requests', labels: ['verb', 'code'] }).inc(1, 'LIST', 200);
  const seconds = metrics.histogram({ name: 'duration_seconds', help: 'Took', buckets: [0.1, 1] });
  for (const value of [0.1, 0.5, 3]) seconds.observe(value);
  metrics.gauge({ name: 'depth', help: 'Deep', collect: (gauge) => gauge.set(7) });
  const text = await metrics.expose();
  expect(text).toContain(
    '# TYPE apiserver_request_total counter\napiserver_request_total{verb="GET",code="200"} 2\napiserver_request_total{verb="LIST",code="200"} 1',
  );
  expect(text).toContain(
    'duration_seconds_bucket{le="0.1"} 1\nduration_seconds_bucket{le="1"} 2\nduration_seconds_bucket{le="+Inf"} 3\nduration_seconds_sum 3.6\nduration_seconds_count 3',
  );
  expect(text).toContain('# TYPE depth gauge\ndepth 7');
  expect(() => total.inc(1, 'GET')).toThrow('1 label values for labels [verb, code]');
  expect(() => metrics.gauge({ name: 'apiserver_request_total', help: '' })).toThrow('already registered as a counter');
});

test('health answers read as upstream’s', async () => {
  const failing = { name: 'etcd', check: () => Promise.reject(new Error('down')) };
  const ask = (query: string, checks = [pingCheck, failing]) => answerHealth('readyz', checks, new URLSearchParams(query));
  expect(await ask('')).toEqual({
    status: 500,
    body: '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n',
    failures: [{ name: 'etcd', reason: 'down' }],
  });
  expect((await ask('exclude=etcd')).body).toBe('ok');
  expect((await ask('verbose&exclude=etcd&exclude=b&exclude=a')).body).toBe(
    '[+]ping ok\n[+]etcd excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nreadyz check passed\n',
  );
  const routes = { healthz: [pingCheck, failing], livez: [pingCheck] };
  expect(await routeHealth('/healthz/ping', routes)).toMatchObject({ status: 200, body: 'ok' });
  expect(await routeHealth('/healthz/etcd', routes)).toMatchObject({ status: 500, body: 'internal server error: down\n' });
  expect(await routeHealth('/livez/etcd', routes)).toMatchObject({ status: 404 });
  expect(await routeHealth('/healthz/', routes)).toMatchObject({ status: 404 });
  expect((await routeHealth('/livez?verbose', routes))?.body).toBe('[+]ping ok\nlivez check passed\n');
  for (const path of ['/readyz', '/healthzz', '/api']) expect(routeHealth(path, routes)).toBeUndefined();
});

test('feature gates: stages, locks and errors', () => {
  const gates = createFeatureGates({
    New: { default: false, stage: 'ALPHA' },
    Soon: { default: true, stage: 'BETA' },
    Done: { default: true, stage: 'GA', lockToDefault: true },
  });
  gates.set(parseFeatureGates('AllAlpha=true,Soon=0'));
  expect([...gates.values()].filter(([, on]) => on).map(([name]) => name)).toEqual(['AllAlpha', 'New', 'Done']);
  expect(gates.help()).toEqual([
    'AllAlpha=true|false (ALPHA - default=false)',
    'AllBeta=true|false (BETA - default=false)',
    'New=true|false (ALPHA - default=false)',
    'Soon=true|false (BETA - default=true)',
  ]);
  for (const [value, message] of [
    ['Nope=true', 'unrecognized feature gate: Nope'],
    ['New=false,Done=false', 'cannot set feature gate Done to false, feature is locked to true'],
    ['New', 'missing bool value for New'],
    ['New=x', 'invalid value of New=x, err: strconv.ParseBool: parsing "x": invalid syntax'],
  ] as const) {
    expect(() => gates.set(parseFeatureGates(value))).toThrow(message);
  }
  expect(gates.enabled('New')).toBe(true);
  expect(() => gates.enabled('Nope')).toThrow('not registered');
});

test('version and leader election', () => {
  expect(versionInfo()).toMatchObject({
    major: '1',
    minor: '36',
    gitVersion: expect.stringMatching(/^v1\.36\.\d+\+sagong\.\d+\.\d+\.\d+$/),
    platform: expect.stringMatching(/^\w+\/\w+$/),
  });
  expect(validateLeaderElection(defaultLeaderElection('x'))).toEqual([]);
  expect(validateLeaderElection({ ...defaultLeaderElection(''), renewDeadlineMs: 15_000, retryPeriodMs: 14_000 })).toEqual([
    'leaseDuration must be greater than renewDeadline',
    'renewDeadline must be greater than retryPeriod*JitterFactor',
    'resourceName must not be empty',
  ]);
});

test('upstream’s gates are known, with their locks', () => {
  const gates = createFeatureGates(knownFeatures);
  expect(gates.values().size).toBeGreaterThan(200);
  expect([gates.enabled('SidecarContainers'), gates.enabled('InPlacePodVerticalScalingExclusiveCPUs')]).toEqual([true, false]);
  expect(() => gates.set(parseFeatureGates('SidecarContainers=false'))).toThrow('feature is locked to true');
});
