import { expect, it } from 'vitest';
import { decodeContinue, encodeContinue } from './continue-token.ts';

const token = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const whole = { v: 'meta.k8s.io/v1', rv: 7, start: 'a/b\u0000' };
const prefix = 'continue key is not valid: ';

it('reads what it wrote', () => {
  expect(decodeContinue(encodeContinue('/registry/pods/a/b', '/registry/pods/', 7), '/registry/pods/')).toEqual({
    start: '/registry/pods/a/b\u0000',
    revision: 7,
  });
});

it.each([
  ['null', 'server does not recognize this encoded version '],
  [[], 'json: cannot unmarshal array into Go value of type storage.continueToken'],
  [7, 'json: cannot unmarshal number 7 into Go value of type storage.continueToken'],
  [{ ...whole, v: {} }, 'json: cannot unmarshal object into Go struct field continueToken.v of type string'],
  [{ ...whole, rv: {} }, 'json: cannot unmarshal object into Go struct field continueToken.rv of type int64'],
  [{ ...whole, rv: '7' }, 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
  [{ ...whole, rv: 9e99 }, 'json: cannot unmarshal number 9e+99 into Go struct field continueToken.rv of type int64'],
  [{ ...whole, rv: 1.5 }, 'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64'],
  [{ ...whole, start: ['a'] }, 'json: cannot unmarshal array into Go struct field continueToken.start of type string'],
  [{ ...whole, rv: 0 }, 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
  [{ ...whole, start: '' }, 'encoded start key empty (version meta.k8s.io/v1)'],
  [{ ...whole, start: '../x' }, '../x'],
])('refuses the token %j', (value, why) => {
  const message = expect.stringContaining(prefix + why);
  expect(() => decodeContinue(token(value), '/registry/pods/')).toThrow(
    expect.objectContaining({ message, status: expect.objectContaining({ code: 400 }) }),
  );
});
