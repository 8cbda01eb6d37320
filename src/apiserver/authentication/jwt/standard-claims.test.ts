import { describe, expect, it, test } from 'vitest';
import { standardClaims } from './standard-claims.ts';

describe('claims of OpenID', () => {
  it.each([
    [{ aud: 'me' }, ['me']],
    [{ aud: ['me', 'you'] }, ['me', 'you']],
    [{ aud: ['me', null] }, ['me']],
    [{ aud: null }, []],
    [{}, []],
  ])('%j has audiences', (claims, audiences) => {
    expect(standardClaims(claims).audiences).toEqual(audiences);
  });

  it.each([
    [{ exp: 7 }, 7],
    [{ exp: 7.9 }, 7],
    [{ exp: '7' }, 7],
    [{}, undefined],
  ])('%j ends', (claims, expires) => {
    expect(standardClaims(claims).expires).toBe(expires);
  });

  test('a token that names no beginning has none', () => {
    expect(standardClaims({ nbf: null }).notBefore).toBeUndefined();
    expect(standardClaims({ nbf: '9' }).notBefore).toBe(9);
  });

  it.each([
    [{ aud: 1 }, 'claim "aud" must be a string or a list of strings'],
    [{ aud: ['me', 1] }, 'claim "aud" must be a string or a list of strings'],
    [{ aud: { me: 1 } }, 'claim "aud" must be a string or a list of strings'],
    [{ exp: 'soon' }, 'claim "exp" must be a number'],
    [{ exp: null }, 'claim "exp" must be a number'],
    [{ nbf: 'later' }, 'claim "nbf" must be a number'],
    [{ nbf: [] }, 'claim "nbf" must be a number'],
    [{ nbf: '' }, 'claim "nbf" must be a number'],
    [{ iat: {} }, 'claim "iat" must be a number'],
    [{ iat: ' 1' }, 'claim "iat" must be a number'],
    [{ sub: 7 }, 'claim "sub" must be a string'],
    [{ nonce: false }, 'claim "nonce" must be a string'],
    [{ _claim_names: 'src' }, 'claim "_claim_names" must be a map of strings'],
    [{ _claim_sources: { a: { endpoint: 1 } } }, 'claim "_claim_sources" must be a map of sources'],
    [{ _claim_names: { groups: 'src' } }, 'source does not exist'],
    [{ _claim_names: { groups: 'toString' }, _claim_sources: {} }, 'source does not exist'],
    [{ _claim_names: { groups: '' } }, 'failed to obtain source from claim name'],
  ])('%j is no token', (claims, why) => {
    expect(() => standardClaims(claims)).toThrow(why);
  });
});
