// Which of a kind's rules look at metadata (pkg/apis/*/validation): some know nothing of finalizers, some nothing of names.
import { builtinKinds } from '#api';
import { errorText } from '#apimachinery/field';
import type { KubeObject } from '#apimachinery/meta';
import { expect, test } from 'vitest';

const context = { now: 0, subresource: '', user: { name: 'admin', groups: [] } };
const definitionOf = (kind: string) => builtinKinds.find((one) => one.kind === kind);
const finalizerError = /^metadata\.finalizers\[0\]: Invalid value: "mine": name is neither a standard finalizer name/;

test.each([
  ['ConfigMap', true],
  ['Pod', true],
  ['Lease', false],
  ['RuntimeClass', false],
  ['PodDisruptionBudget', false],
  ['ValidatingWebhookConfiguration', false],
  ['CustomResourceDefinition', false],
])('%s holds finalizers to its own names: %s', (kind, strict) => {
  const object = { metadata: { name: 'a', finalizers: ['mine'] }, spec: {} } as KubeObject;
  const errors = (definitionOf(kind)?.validate?.(object, context) ?? []).map(errorText);
  expect(errors.some((text) => finalizerError.test(text))).toBe(strict);
});

test.each([
  ['Event', false],
  ['PodDisruptionBudget', false],
  ['Pod', undefined],
])('%s looks at new metadata: %s', (kind, looks) => {
  expect(definitionOf(kind)?.validatesMetadata).toBe(looks);
});
