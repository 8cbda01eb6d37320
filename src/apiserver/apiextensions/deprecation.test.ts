import { describe, expect, it } from 'vitest';
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import { deprecationOf } from './deprecation.ts';

const boats = (
  ...versions: { name: string; deprecated?: boolean; served?: boolean; deprecationWarning?: string }[]
): CustomResourceDefinition =>
  ({
    metadata: { name: 'boats.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'boats', kind: 'Boat' },
      versions: versions.map((version) => ({ served: true, storage: false, ...version })),
    },
  }) as CustomResourceDefinition;

const warned = (crd: CustomResourceDefinition): string | undefined => {
  const [first] = crd.spec.versions;
  return first && deprecationOf(crd, first);
};

describe('a deprecated version of a custom resource', () => {
  it('warns in the words of its definition', () => {
    expect(warned(boats({ name: 'v1', deprecated: true, deprecationWarning: 'sink it' }))).toBe('sink it');
  });

  it('points to the best later version that is served and not deprecated', () => {
    const crd = boats({ name: 'v1alpha1', deprecated: true }, { name: 'v1beta1' }, { name: 'v1' }, { name: 'v2', served: false });
    expect(warned(crd)).toBe('example.com/v1alpha1 Boat is deprecated; use example.com/v1 Boat');
  });

  it('points to none where there is none', () => {
    expect(warned(boats({ name: 'v1', deprecated: true }, { name: 'v1beta1' }))).toBe('example.com/v1 Boat is deprecated');
  });

  it('is silent otherwise', () => {
    expect(warned(boats({ name: 'v1' }))).toBeUndefined();
  });
});
