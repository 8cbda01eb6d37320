// The types of policies' expressions, checked against what the real apiserver says of its kinds, in virtual time.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ValidatingAdmissionPolicy } from '#api/admissionregistration/v1';
import { createControllers, defaultControllersConfig } from '#controllers';
import type { GroupVersionResource } from '#apimachinery/meta';
import { startTestControlPlane, type TestControlPlane, virtualClock } from '#testing';

const policies: GroupVersionResource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
};
const definitions: GroupVersionResource = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
const clock = virtualClock();
let plane: TestControlPlane;

beforeAll(async () => {
  const name = 'validatingadmissionpolicy-status-controller';
  plane = await startTestControlPlane({
    clock,
    controllers: createControllers(defaultControllersConfig).filter((one) => one.name === name),
  });
  await clock.advance(1_000);
});
afterAll(() => plane.stop());

const rule = (group: string, version: string, ...resources: string[]) => ({
  operations: ['CREATE'],
  apiGroups: [group],
  apiVersions: [version],
  resources,
});
let made = 0;
async function statusOf(resourceRules: ReturnType<typeof rule>[], ...expressions: string[]) {
  const name = `policy-${made++}`;
  const validations = expressions.map((expression) => ({ expression }));
  await plane.client
    .resource<ValidatingAdmissionPolicy>(policies)
    .create({ metadata: { name }, spec: { matchConstraints: { resourceRules }, validations } });
  await clock.advance(1_000);
  return (await plane.client.resource<ValidatingAdmissionPolicy>(policies).get(name)).status;
}

describe('the status of a policy', () => {
  it('says that nothing is wrong', async () =>
    expect(
      await statusOf(
        [rule('apps', 'v1', 'deployments'), rule('', 'v1', 'pods', 'configmaps')],
        "object.metadata.name != '' && object.metadata.labels['a'] != 'b'",
      ),
    ).toEqual({ observedGeneration: 1, typeChecking: {} }));
  it('says what does not fit, for each kind', async () => {
    const rules = [rule('apps', 'v1', 'deployments', 'statefulsets'), rule('', 'v1', 'pods')];
    const status = await statusOf(rules, "object.spec.replicas > '1'", 'object.spec.containers.all(c, c.image > 1)');
    const warnings = status?.typeChecking?.expressionWarnings ?? [];
    expect(warnings.map(({ fieldRef, warning }) => [fieldRef, warning.match(/^\S+, Kind=\w+|(?:undefined|found).*/gm)])).toEqual([
      [
        'spec.validations[0].expression',
        [
          '/v1, Kind=Pod',
          "undefined field 'replicas'",
          'apps/v1, Kind=Deployment',
          "found no matching overload for '_>_' applied to '(int, string)'",
          'apps/v1, Kind=StatefulSet',
          "found no matching overload for '_>_' applied to '(int, string)'",
        ],
      ],
      [
        'spec.validations[1].expression',
        [
          '/v1, Kind=Pod',
          "found no matching overload for '_>_' applied to '(string, int)'",
          'apps/v1, Kind=Deployment',
          "undefined field 'containers'",
          'apps/v1, Kind=StatefulSet',
          "undefined field 'containers'",
        ],
      ],
    ]);
  });
  it('knows custom resources', async () => {
    const spec = { type: 'object', properties: { replicas: { type: 'integer' } } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    await plane.client.resource(definitions).create({
      metadata: { name: 'crontabs.stable.example.com' },
      spec: {
        group: 'stable.example.com',
        scope: 'Namespaced',
        names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    } as never);
    await clock.advance(10_000);
    const rules = [rule('stable.example.com', 'v1', 'crontabs')];
    expect(await statusOf(rules, 'object.spec.replicas > 1')).toEqual({ observedGeneration: 1, typeChecking: {} });
    const status = await statusOf(rules, "object.spec.replicas > '1'", 'object.spec.maxRetries < 10');
    const texts = (status?.typeChecking?.expressionWarnings ?? []).map(({ warning }) => warning);
    expect(texts[0]).toContain("found no matching overload for '_>_' applied to '(int, string)'");
    expect(texts[1]).toContain("undefined field 'maxRetries'");
  });
  it.each([
    ['any group', [rule('*', '*', '*')]],
    ['a kind that is not served', [rule('example.com', 'v1', 'things')]],
  ])('of a policy for %s says nothing of types', async (_what, rules) =>
    expect(await statusOf(rules, "object.spec.replicas > '1'")).toEqual({ observedGeneration: 1, typeChecking: {} }),
  );
});
