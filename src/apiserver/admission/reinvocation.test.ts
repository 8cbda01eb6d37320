import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../registry/generic/admission.ts';
import { Rounds } from './reinvocation.ts';

/** A request whose object counts how often it is written as text. */
function counting(): { request: AdmissionRequest; written: () => number; change(): void } {
  let [count, text] = [0, 'a'];
  const toJSON = (): string => {
    count++;
    return text;
  };
  const request = { object: { toJSON, metadata: {} } } as unknown as AdmissionRequest;
  return { request, written: () => count, change: () => (text += 'b') };
}

function twice(request: AdmissionRequest, asksAgain: boolean, between = (): void => {}): boolean[] {
  return [false, true].map((running) => {
    if (running && request.reinvocation) request.reinvocation.running = true;
    const rounds = Rounds.of(request, 'plugin');
    const takesPart = rounds.includes('part');
    if (takesPart && asksAgain) rounds.invoked('part');
    rounds.finish(request);
    between();
    return takesPart;
  });
}

test('a large object is not written to find out what nobody asks for', () => {
  const { request, written } = counting();
  expect(twice(request, false)).toEqual([true, false]);
  expect(written()).toBe(0);
});

test('a part that asks for it runs again where others changed the object since', () => {
  const same = counting();
  expect(twice(same.request, true)).toEqual([true, false]);
  const changed = counting();
  expect(twice(changed.request, true, changed.change)).toEqual([true, true]);
});
