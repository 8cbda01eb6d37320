import { describe, expect, it } from 'vitest';
import { errorText, root } from '../field/index.ts';
import type { ObjectMeta } from '../meta/index.ts';
import {
  nameIsDNSSubdomain,
  validateConditions,
  validateDeleteOptions,
  validateLabelSelector,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validatePatchOptions,
} from './index.ts';

const path = root('metadata');
const good: ObjectMeta = { name: 'a', namespace: 'n' };
const qualifiedRule =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };

describe('validateObjectMeta', () => {
  it.each<[string, ObjectMeta, string[]]>([
    ['good', { ...good, generateName: 'a-', labels: { 'x/y': '' }, finalizers: ['orphan'], ownerReferences: [owner] }, []],
    ['no name', { namespace: 'n' }, ['metadata.name: Required value: name or generateName is required']],
    ['no namespace', { name: 'a' }, ['metadata.namespace: Required value']],
    ['label key', { ...good, labels: { 'a b': 'c' } }, [`metadata.labels: Invalid value: "a b": name part ${qualifiedRule}`]],
    ['annotation case', { ...good, annotations: { 'Example.com/A': 'any value' } }, []],
    [
      'annotation size',
      { ...good, annotations: { a: 'x'.repeat(262144) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      'owner',
      { ...good, ownerReferences: [{ ...owner, uid: '' }] },
      ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
    ],
    [
      'event as owner',
      { ...good, ownerReferences: [{ ...owner, kind: 'Event' }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      'two finalizers',
      { ...good, finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      'managed fields',
      { ...good, managedFields: [{ operation: 'Apply', manager: 'a\nb', apiVersion: 'v1', fieldsType: 'FieldsV1' }] },
      ['metadata.managedFields[0].manager: Invalid value: "a\\nb": invalid character U+000A (at position 1)'],
    ],
    ['generation', { ...good, generation: -1 }, ['metadata.generation: Invalid value: -1: must be greater than or equal to 0']],
  ])('%s', (_, meta, texts) => {
    expect(validateObjectMeta(meta, true, nameIsDNSSubdomain, path).map(errorText)).toEqual(texts);
  });

  it('allows no namespace on cluster objects', () => {
    expect(validateObjectMeta(good, false, nameIsDNSSubdomain, path).map(errorText)).toEqual([
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
  });
});

describe('validateObjectMetaUpdate', () => {
  const old: ObjectMeta = { ...good, uid: 'u', resourceVersion: '1', generation: 2, creationTimestamp: '2026-01-01T00:00:00Z' };
  it.each<[string, ObjectMeta, string[]]>([
    ['same', old, []],
    ['same instant', { ...old, creationTimestamp: '2026-01-01T01:00:00+01:00' }, []],
    [
      'no version',
      { ...old, resourceVersion: '' },
      ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    ],
    ['uid', { ...old, uid: 'x' }, ['metadata.uid: Invalid value: "x": field is immutable']],
    ['generation', { ...old, generation: 1 }, ['metadata.generation: Invalid value: 1: must not be decremented']],
    [
      'deletion',
      { ...old, deletionTimestamp: '2026-01-01T00:00:00Z' },
      ['metadata.deletionTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable'],
    ],
  ])('%s', (_, meta, texts) => {
    expect(validateObjectMetaUpdate(meta, old, path).map(errorText)).toEqual(texts);
  });

  it('adds no finalizer to what is being deleted', () => {
    const dying = { ...old, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] };
    expect(validateObjectMetaUpdate({ ...dying, finalizers: ['a/b', 'c/d'] }, dying, path).map(errorText)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/d"}',
    ]);
  });
});

it('validates selectors, options and conditions', () => {
  const selector = {
    matchLabels: {},
    matchExpressions: [
      { key: 'a', operator: 'In' },
      { key: 'b', operator: 'Exists', values: ['x'] },
      { key: 'c', operator: 'Q' },
    ],
  };
  expect(validateLabelSelector(selector, root('s')).map(errorText)).toEqual([
    "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "s.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    's.matchExpressions[2].operator: Invalid value: "Q": not a valid selector operator',
  ]);
  expect(validatePatchOptions({ fieldManager: '' }, true).map(errorText)).toEqual([
    'fieldManager: Required value: is required for apply patch',
  ]);
  expect(validatePatchOptions({ force: false, fieldValidation: 'Q', dryRun: ['x'] }, false).map(errorText)).toEqual([
    'force: Forbidden: may not be specified for non-apply patch',
    'dryRun: Unsupported value: ["x"]: supported values: "All"',
    'fieldValidation: Unsupported value: "Q": supported values: "", "Ignore", "Strict", "Warn"',
  ]);
  expect(validateDeleteOptions({ propagationPolicy: 'X' }).map(errorText)).toEqual([
    'propagationPolicy: Unsupported value: "X": supported values: "Foreground", "Background", "Orphan", "nil"',
  ]);
  const condition = { type: 'A', status: 'True', reason: 'Ok', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
  expect(validateConditions([condition, { ...condition, reason: '' }], root('c')).map(errorText)).toEqual([
    'c[1].type: Duplicate value: "A"',
    'c[1].reason: Required value',
  ]);
});
