// What admission is told of the options of a write: those of what is done, whatever way it came, and the grace that a deletion gives.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import type { ApiCall, Transport } from '#apimachinery/transport';
import type { KubeApiServer } from '#apiserver/app';
import { silentLogger } from '#utils';
import { startApiServer } from '../../support/api-server.ts';

const registration = { group: 'admissionregistration.k8s.io', version: 'v1' };
let server: KubeApiServer;
let client: Transport;

const object = (given: object): UnknownObject => given as UnknownObject;
const told =
  "request.operation + ' ' + request.options.kind + (has(request.options.force) ? ' force' : '') + (has(request.options.gracePeriodSeconds) ? ' ' + string(request.options.gracePeriodSeconds) : '')";

beforeAll(async () => {
  server = await startApiServer(silentLogger, { disableAdmissionPlugins: ['ServiceAccount'] });
  client = server.transport({ name: 'admin', groups: ['system:masters'] });
  for (const name of ['default', 'n'])
    await client
      .call({ group: '', version: 'v1', resource: 'namespaces', verb: 'create', object: object({ metadata: { name } }) })
      .catch(() => {});
  await make('waiting');
  await make('placed', { nodeName: 'node' });
  // Warns of everything in the namespace, and refuses nothing: the text is what it was told.
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['*'] };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'n' } };
  const spec = {
    matchConstraints: { resourceRules: [rule], namespaceSelector },
    validations: [{ expression: 'false', messageExpression: told }],
  };
  const create = (resource: string, body: object) =>
    client.call({ ...registration, resource, verb: 'create', object: object({ metadata: { name: 'told' }, ...body }) });
  await create('validatingadmissionpolicies', { spec });
  await create('validatingadmissionpolicybindings', { spec: { policyName: 'told', validationActions: ['Deny'] } });
});
afterAll(async () => {
  await server.close();
});

const pods = { group: '', version: 'v1', resource: 'pods', namespace: 'n' } as const;
const pod = (name: string, spec: object = {}): UnknownObject =>
  object({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
const make = (name: string, spec: object = {}) => client.call({ ...pods, verb: 'create', object: pod(name, spec) });
const merge = { type: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } } as const;
const applied = (name: string) => ({ type: 'application/apply-patch+yaml', body: pod(name) }) as const;
const forced = { fieldManager: 'me', force: true };

it.each<[Partial<ApiCall>, string]>([
  [{ verb: 'create', object: pod('new') }, 'CREATE CreateOptions'],
  [{ verb: 'patch', name: 'waiting', patch: merge }, 'UPDATE UpdateOptions'],
  [{ verb: 'patch', name: 'waiting', patch: applied('waiting'), options: forced }, 'UPDATE UpdateOptions'],
  [{ verb: 'patch', name: 'new', patch: applied('new'), options: forced }, 'CREATE CreateOptions'],
  [{ verb: 'delete', name: 'waiting' }, 'DELETE DeleteOptions 0'],
  [{ verb: 'delete', name: 'placed' }, 'DELETE DeleteOptions 30'],
  [{ verb: 'delete', name: 'placed', deleteOptions: { gracePeriodSeconds: 5 } }, 'DELETE DeleteOptions 5'],
])('of %j it is told "%s"', async (call, wanted) => {
  const failure = await client.call({ ...pods, ...call } as ApiCall).catch((error: Error) => error.message);
  expect(failure).toMatch(new RegExp(`denied request: ${wanted}$`));
});
