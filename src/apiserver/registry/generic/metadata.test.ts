import { expect, test } from 'vitest';
import { inWireOrder } from './metadata.ts';

test.each([
  [{ labels: { a: 'b' }, name: 'x', deletionTimestamp: 't' }, ['name', 'deletionTimestamp', 'labels']],
  [
    { uid: 'u', finalizers: [], generation: 1, namespace: 'n', deletionGracePeriodSeconds: 0, deletionTimestamp: 't', name: 'x' },
    ['name', 'namespace', 'uid', 'generation', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'finalizers'],
  ],
  [
    { managedFields: [], finalizers: ['orphan'], ownerReferences: [], annotations: {}, labels: {} },
    ['labels', 'annotations', 'ownerReferences', 'finalizers', 'managedFields'],
  ],
  [{}, []],
])('metadata %j on the wire', (metadata, expected) => {
  expect(Object.keys(inWireOrder(metadata))).toEqual(expected);
});
