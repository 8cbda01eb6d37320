import { expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../meta/index.ts';
import { parentManagers, scaleManagers } from './scale.ts';

const paths = new Map([['apps/v1', ['spec', 'replicas']]]);
const entry = (manager: string, operation: 'Apply' | 'Update', fieldsV1: object, more: object = {}): ManagedFieldsEntry =>
  ({
    manager,
    operation,
    apiVersion: 'apps/v1',
    time: '2024-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  }) as ManagedFieldsEntry;
const replicas = { 'f:spec': { 'f:replicas': {} } };
const parent = [
  entry('applier', 'Apply', { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } }),
  entry('other', 'Update', { 'f:spec': { 'f:paused': {} } }),
];

test('only owners of the replicas are managers of the Scale', () => {
  expect(scaleManagers(parent, paths, 'autoscaling/v1')).toEqual([
    { ...parent[0], apiVersion: 'autoscaling/v1', fieldsV1: replicas },
  ]);
  expect(scaleManagers([entry('other', 'Update', { 'f:spec': { 'f:paused': {} } })], paths, 'autoscaling/v1')).toBeUndefined();
});

test('who takes the replicas in the Scale takes them in the object, without a time', () => {
  const taken = entry('hpa', 'Update', replicas, { apiVersion: 'autoscaling/v1', subresource: 'scale' });
  expect(parentManagers(parent, [taken], paths, 'apps/v1')).toEqual([
    entry('applier', 'Apply', { 'f:spec': { 'f:paused': {} } }),
    {
      manager: 'hpa',
      operation: 'Update',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: replicas,
      subresource: 'scale',
    },
    entry('other', 'Update', { 'f:spec': { 'f:paused': {} } }),
  ]);
});

test('an applier that keeps the replicas keeps its entry', () => {
  const kept = scaleManagers(parent, paths, 'autoscaling/v1');
  expect(parentManagers(parent, kept, paths, 'apps/v1')).toEqual(parent);
});

test('managers of versions that are no more go with a write of the Scale; those of versions without a scale stay', () => {
  const gone = entry('old', 'Apply', { 'f:spec': { 'f:replicas': {} } }, { apiVersion: 'apps/v0' });
  const scaleless = entry('other', 'Apply', { 'f:spec': { 'f:replicas': {} } }, { apiVersion: 'apps/v2' });
  const known = new Map<string, string[] | undefined>([...paths, ['apps/v2', undefined]]);
  expect(scaleManagers([gone, scaleless], known, 'autoscaling/v1')).toBeUndefined();
  expect(parentManagers([gone, scaleless], undefined, known, 'apps/v1')).toEqual([scaleless]);
});
