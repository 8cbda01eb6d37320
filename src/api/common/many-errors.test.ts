// An object with thousands of bad items gets only the first failures in its answer, which bounds the answer and the work for it.
import { expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import { invalidObject } from '#apimachinery/errors';
import { type FieldError, fieldErrorsMax, root } from '#apimachinery/field';
import { validateAnnotations, validateFinalizers, validateLabels, validateOwnerReferences } from '#apimachinery/validation';
import type { KindContext } from '../kind.ts';
import { collect, type Report } from './report.ts';
import { validateValue } from '../apiextensions/common/index.ts';
import { podRules } from '../core/pod/validation/rules.ts';
import { validatePodAndSpec } from '../core/pod/validation/pod.ts';

const many = 50_000;
const made = <T>(make: (at: number) => T): T[] => Array.from({ length: many }, (_, at) => make(at));
const bad = Object.fromEntries(made((at) => [`-${at}`, '!']));
const path = root('metadata');

const cases: [string, () => FieldError[]][] = [
  ['labels', () => validateLabels(bad, path)],
  ['annotations', () => validateAnnotations(bad, path)],
  ['finalizers', () => validateFinalizers(Object.keys(bad), path)],
  [
    'owners, each of which says that it is the one',
    () =>
      validateOwnerReferences(
        made((at) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${at}`, uid: `u${at}`, controller: true })),
        path,
      ),
  ],
  ['rules that report', () => collect((report: Report) => made(() => report.required(path)))],
  [
    'containers of a pod',
    () => {
      const pod = { metadata: { name: 'p', namespace: 'ns' }, spec: { containers: made(() => ({ name: 'A b' })) } } as Pod;
      return collect((report) => validatePodAndSpec(report, pod, podRules(pod, {} as KindContext, true)));
    },
  ],
  [
    'items of a custom resource',
    () =>
      validateValue(
        { type: 'array', items: { type: 'string' } },
        made((at) => at),
      ),
  ],
];

test.each(cases)('%s', (_, validate) => {
  const errors = validate();
  expect(errors.length).toBeGreaterThan(fieldErrorsMax);
  expect(errors.length).toBeLessThan(fieldErrorsMax + 10);
  const { status } = invalidObject({ group: '', kind: 'Thing' }, 'a', errors);
  expect(status.message).toMatch(/, more errors are not shown\]$/);
  expect(status.details?.causes?.length).toBeLessThanOrEqual(fieldErrorsMax);
});
