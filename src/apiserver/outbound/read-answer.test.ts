import { expect, test } from 'vitest';
import { readAnswer, readingAnswer } from './read-answer.ts';

const typeName = 'io.k8s.api.admission.v1.AdmissionReview';
const answer = (warnings: string[]): string => JSON.stringify({ response: { uid: 'u', allowed: true, warnings } });

test('an answer is read by its type', () => {
  expect(readAnswer(answer(['a']), typeName)).toEqual({ response: { uid: 'u', allowed: true, warnings: ['a'] } });
  expect(() => readAnswer('{"response":{"allowed":"yes"}}', typeName)).toThrow(/cannot unmarshal string/);
  expect(() => readAnswer('{', typeName)).toThrow('unexpected end of JSON input');
});

test('a long answer is parsed and read in steps', () => {
  const steps = (text: string): number => {
    const work = readingAnswer(text, typeName);
    for (let at = 1; ; at++) if (work.next().done === true) return at;
  };
  expect(steps(answer(['a']))).toBeLessThan(steps(answer(Array.from({ length: 50_000 }, String))));
});
