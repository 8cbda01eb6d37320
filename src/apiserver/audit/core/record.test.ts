import { expect, it } from 'vitest';
import { legacyLine } from './legacy-line.ts';
import type { Level } from './policy.ts';
import { AuditRecord, withoutManagedFields } from './record.ts';
import { sourceIps } from './source-ips.ts';

const recordAt = (level: Level, omitManagedFields = false): AuditRecord =>
  new AuditRecord(
    { level, omitStages: new Set(), omitManagedFields },
    {
      auditId: 'id-1',
      uri: '/api/v1/namespaces/d/pods?watch=1&x=<y>',
      verb: 'create',
      user: { name: 'alice', groups: ['dev'], extra: { b: ['1'], a: ['2'] } },
      sourceIps: ['1.2.3.4'],
      userAgent: 'curl',
      target: { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'd', name: '' },
      receivedMs: Date.parse('2026-01-02T03:04:05.678Z') + 0.25,
    },
  );

it('writes fields in the order of the type, objects as the text they are, and escapes as Go does', () => {
  const record = recordAt('RequestResponse');
  record.requestObject(() => '{"a":"<"}\n', { name: 'p', uid: 'u' });
  record.responseObject(() => '{"kind":"Pod"}');
  record.responseCode(201);
  record.annotate('b', '2');
  record.annotate('a', '1');
  record.annotate('a', 'later');
  expect(record.event('ResponseComplete', record.receivedMs + 1.5).json).toBe(
    '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"id-1","stage":"ResponseComplete",' +
      '"requestURI":"/api/v1/namespaces/d/pods?watch=1\\u0026x=\\u003cy\\u003e","verb":"create",' +
      '"user":{"username":"alice","groups":["dev"],"extra":{"a":["2"],"b":["1"]}},"sourceIPs":["1.2.3.4"],"userAgent":"curl",' +
      '"objectRef":{"resource":"pods","namespace":"d","name":"p","uid":"u","apiVersion":"v1"},' +
      '"responseStatus":{"metadata":{},"code":201},"requestObject":{"a":"\\u003c"},"responseObject":{"kind":"Pod"},' +
      '"requestReceivedTimestamp":"2026-01-02T03:04:05.678250Z","stageTimestamp":"2026-01-02T03:04:05.679750Z",' +
      '"annotations":{"a":"1","b":"2"}}',
  );
});

it.each([
  ['Metadata', false, false],
  ['Request', true, false],
  ['RequestResponse', true, true],
] as const)('at level %s shows the request: %s, the response: %s', (level, request, response) => {
  const record = recordAt(level);
  record.requestObject(() => '{}');
  record.responseObject(() => '{}');
  const event = record.event('ResponseComplete', 0);
  expect([event.requestObject !== undefined, event.responseObject !== undefined]).toEqual([request, response]);
});

it('takes annotations of admission by their keys, and by the level they are for', () => {
  const record = recordAt('Metadata');
  record.annotateAdmission('no-domain', 'x');
  record.annotateAdmission('patch.webhook.admission.k8s.io/round_0_index_0', 'x', 'Request');
  record.annotateAdmission('hook.example.com/key', 'x');
  expect(record.event('ResponseComplete', 0).event.annotations).toEqual({ 'hook.example.com/key': 'x' });
});

it('drops managers of fields where the policy says so', () => {
  const record = recordAt('RequestResponse', true);
  record.responseObject(() => '{"metadata":{"name":"a","managedFields":[{}]}}');
  expect(record.event('ResponseComplete', 0).responseObject).toBe('{"metadata":{"name":"a"}}');
  expect(
    withoutManagedFields('{"items":[{"metadata":{"managedFields":[]}}],"rows":[{"object":{"metadata":{"managedFields":[]}}}]}'),
  ).toBe('{"items":[{"metadata":{}}],"rows":[{"object":{"metadata":{}}}]}');
});

it('has a line of text for those who read', () => {
  const record = recordAt('Metadata');
  record.impersonate({ name: 'bob', groups: ['x'] }, 'impersonate:user-info');
  const { event } = record.event('RequestReceived', 0);
  expect(event.authenticationMetadata).toEqual({ impersonationConstraint: 'impersonate:user-info' });
  expect(legacyLine(event)).toBe(
    '2026-01-02T03:04:05.67825Z AUDIT: id="id-1" stage="RequestReceived" ip="1.2.3.4" method="create" user="alice" groups="\\"dev\\"" as="bob" asgroups="\\"x\\"" user-agent="curl" namespace="d" uri="/api/v1/namespaces/d/pods?watch=1&x=<y>" response="<deferred>"',
  );
});

it.each([
  [{}, '10.0.0.1', ['10.0.0.1']],
  [{}, '::ffff:10.0.0.1', ['10.0.0.1']],
  [
    { 'x-forwarded-for': '1.2.3.4, nonsense, 5.6.7.8', 'x-real-ip': '9.9.9.9' },
    '10.0.0.1',
    ['1.2.3.4', '5.6.7.8', '9.9.9.9', '10.0.0.1'],
  ],
  [{ 'x-forwarded-for': '1.2.3.4', 'x-real-ip': '1.2.3.4' }, '1.2.3.4', ['1.2.3.4']],
])('sources %j from %s are %j', (headers, remote, ips) => {
  expect(sourceIps(headers, remote)).toEqual(ips);
});
