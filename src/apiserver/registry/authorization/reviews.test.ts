import { expect, test } from 'vitest';
import { StatusError } from '#apimachinery/errors';
import type { UnknownObject } from '#apimachinery/meta';
import { MemoryCluster } from '../test-support/memory-cluster.ts';
import { ownRequest } from '../../request/own.ts';
import { accessReviewEndpoints } from './reviews.ts';

const cluster = new MemoryCluster();
const [review] = accessReviewEndpoints({ authorize: () => ({ allowed: true, reason: '' }) });

const target = { group: 'authorization.k8s.io', version: 'v1', resource: '', subresource: '', namespace: '', name: '' };

/** The first lines of what is refused, or what is said of the selector. */
async function ask(selectors: object): Promise<string> {
  const spec = { user: 'u', resourceAttributes: { verb: 'list', resource: 'pods', ...selectors } };
  try {
    const answer = await review?.handle({
      request: ownRequest({ name: 'u', groups: [] }, 'create', target, 0),
      target,
      subpath: '',
      query: new URLSearchParams(),
      object: { metadata: {}, spec } as unknown as UnknownObject,
      dryRun: false,
      cluster,
      writer: cluster,
      validate: async () => {},
    });
    const { object } = answer as { object: { status?: { evaluationError?: string } } };
    return object.status?.evaluationError ?? 'ok';
  } catch (error) {
    return (error as StatusError).status.details?.causes?.map(({ field, message }) => `${field} ${message}`).join('; ') ?? '';
  }
}

const at = (kind: string) => `spec.resourceAttributes.${kind}Selector.requirements[0]`;

test.each([
  ['field', { key: 'a', operator: 'In', values: ['b'] }, 'ok'],
  ['field', { operator: 'In', values: ['b'] }, `${at('field')}.key Required value: must be specified`],
  ['field', { key: 'a', operator: 'Exists' }, 'spec.resourceAttributes.fieldSelector ignored due to parse error'],
  ['field', { key: 'a', operator: 'Newer', values: ['b'] }, 'spec.resourceAttributes.fieldSelector ignored due to parse error'],
  [
    'field',
    { key: 'a', operator: 'NotIn', values: [] },
    `${at('field')}.values Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
  ],
  [
    'field',
    { key: 'a', operator: 'DoesNotExist', values: ['b'] },
    `${at('field')}.values Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
  ],
  ['label', { key: 'a', operator: 'DoesNotExist' }, 'ok'],
  ['label', { key: 'a', operator: 'Newer' }, 'spec.resourceAttributes.labelSelector ignored due to parse error'],
  [
    'label',
    { key: 'a', operator: 'In' },
    `${at('label')}.values Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
  ],
])('requirement of a %s selector: %j', async (kind, requirement, expected) => {
  expect(await ask({ [`${kind}Selector`]: { requirements: [requirement] } })).toBe(expected);
});
