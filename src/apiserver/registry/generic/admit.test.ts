import { expect, test } from 'vitest';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { chainOf } from './admit.ts';

const plugin = (name: string, run: () => void | Promise<void>): AdmissionPlugin => ({
  name,
  handles: () => true,
  admit: run,
  validate: run,
});

test.each(['admit', 'validate'] as const)(
  'others go on after each plugin that has waited, before the next one: %s',
  async (phase) => {
    const seen: string[] = [];
    const said = (name: string) => (): void => void seen.push(name);
    const chain = chainOf([
      plugin('plain', said('plain')),
      plugin('slow', async () => said('slow')()),
      plugin('quick', said('quick')),
      plugin('slower', async () => said('slower')()),
    ]);
    const rest = async (): Promise<void> => void seen.push('others');
    await chain[phase]({ operation: 'CREATE', rest } as AdmissionRequest);
    expect(seen).toEqual(['plain', 'slow', 'others', 'quick', 'slower', 'others']);
  },
);

test('where no plugin waits there is no pause', () => {
  const rest = (): Promise<void> => Promise.reject(new Error('a pause'));
  expect(chainOf([plugin('plain', () => {})]).admit({ operation: 'CREATE', rest } as AdmissionRequest)).toBeUndefined();
});
