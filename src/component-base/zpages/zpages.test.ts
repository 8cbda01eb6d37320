// /flagz and /statusz: who gets text, who a structured form, and who neither.
import { describe, expect, test } from 'vitest';
import { systemClock } from '#host';
import { flag } from '../flags/index.ts';
import { flagTexts, routeZpage } from './index.ts';

const table = {
  verbosity: flag.int({ name: 'v', help: 'h', default: 0 }),
  names: flag.strings({ name: 'names', help: 'h', default: ['a', 'b'] }),
  after: flag.duration({ name: 'after', help: 'h', default: 90_000 }),
  file: flag.string({ name: 'file', help: 'h', default: '' }),
};
const pages = {
  component: 'apiserver',
  clock: systemClock(),
  flags: () => flagTexts(table, { verbosity: 4, names: ['a', 'b'], after: 90_000, file: '/x y' }),
  paths: ['/', '/api/v1', '/healthz', '/healthz/ping', '/metrics', '/openapi/v2', '/version'],
};
const ask = (target: string, accept = '', userAgent = 'test') => routeZpage({ target, accept, userAgent }, pages);
const form = (kind: string, version: string, more = '') => `application/json;as=${kind};g=config.k8s.io;v=${version}${more}`;
const flags = { v: '4', names: '[a,b]', after: '1m30s', file: '/x y' };

describe('text', () => {
  test.each(['', ' ', '*/*', 'text/plain', 'text/*', 'application/json, */*;q=0.1'])('for Accept: %j', async (accept) => {
    expect(await ask('/flagz?x', accept)).toEqual({
      status: 200,
      type: 'text/plain; charset=utf-8',
      body: expect.stringMatching(/^\napiserver flagz\nWarning: .*\nafter=1m30s\nfile=\/x y\nnames=\[a,b\]\nv=4\n$/),
    });
    const { body } = (await ask('/statusz', accept)) ?? {};
    expect(body).toMatch(
      /^\napiserver statusz\nWarning: .*\n\nStarted: \w{3} \w{3} [ \d]\d [\d:]{8} UTC \d{4}\nUp: \d+ hr \d\d min \d\d sec\n/,
    );
    expect(body).toMatch(/\nBinary version: 1\.36\.2\nEmulation version: 1\.36\nPaths: \/healthz \/metrics \/version\n$/);
  });
});

describe('structured', () => {
  test('as JSON', async () => {
    const { type, body, headers } = (await ask('/flagz', form('Flagz', 'v1beta1'))) ?? {};
    expect(type).toBe('application/json;g=config.k8s.io;v=v1beta1;as=Flagz');
    expect(headers).not.toHaveProperty('warning');
    expect(JSON.parse(String(body))).toEqual({
      kind: 'Flagz',
      apiVersion: 'config.k8s.io/v1beta1',
      metadata: { name: 'apiserver' },
      flags,
    });
    const status = await ask('/statusz', form('Statusz', 'v1beta1', ';pretty=1'));
    expect(status?.body).toContain('\n  "paths": [\n    "/healthz",');
  });

  test('as YAML', async () => {
    const answer = await ask('/flagz', form('Flagz', 'v1beta1').replace('json', 'yaml'));
    expect(answer?.type).toBe('application/yaml;g=config.k8s.io;v=v1beta1;as=Flagz');
    expect(answer?.body).toContain('kind: Flagz\n');
  });

  test('an old version is warned about', async () => {
    const answer = await ask('/statusz', form('Statusz', 'v1alpha1'));
    expect(answer?.headers?.['warning']).toBe(
      '299 - "This version of the statusz endpoint is deprecated. Please use a newer version."',
    );
    expect(JSON.parse(String(answer?.body))).toMatchObject({ apiVersion: 'config.k8s.io/v1alpha1' });
  });
});

test.each([
  'application/json',
  'application/json, application/yaml',
  'application/vnd.kubernetes.protobuf',
  form('Statusz', 'v1beta1'),
  form('Flagz', 'v1'),
  'text/plain;as=Flagz;g=config.k8s.io;v=v1beta1',
])('%s is not acceptable for /flagz', async (accept) => {
  const answer = await ask('/flagz', accept);
  expect(answer?.status).toBe(406);
  expect(JSON.parse(String(answer?.body))).toMatchObject({
    reason: 'NotAcceptable',
    message: 'only the following media types are accepted: application/json, application/yaml, text/plain',
  });
});

test('without flags there is no /flagz, and other paths are nobody’s', async () => {
  const request = { accept: '', userAgent: '' };
  expect(await routeZpage({ ...request, target: '/flagz' }, { ...pages, flags: undefined })).toBeUndefined();
  expect(await ask('/flagz/x')).toBeUndefined();
  expect(await ask('/statuszz')).toBeUndefined();
});

test('who asks for plain YAML is refused in YAML', async () => {
  const answer = await ask('/flagz', 'image/png, application/yaml');
  expect(answer).toMatchObject({ status: 406, type: 'application/yaml' });
  expect(answer?.body).toContain('kind: Status\n');
});
