import { expect, test } from 'vitest';
import { builtinSchema } from '#api';
import { StatusError } from '#apimachinery/errors';
import { deleteOptionsBody } from './write-options.ts';

const unregistered = (kind: string, version: string) =>
  `no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`;

test.each([
  [{ kind: 'DeleteOptions', apiVersion: 'bogus/v9' }, ''],
  [{ apiVersion: 'bogus/v9' }, ''],
  [{ kind: 'Pod', apiVersion: 'v1' }, unregistered('Pod', 'v1')],
  [{ kind: 'Pod' }, unregistered('Pod', 'meta.k8s.io/v1')],
  [{ kind: 'ListOptions', apiVersion: 'v1' }, unregistered('ListOptions', 'v1')],
  [{ kind: 'CreateOptions', apiVersion: 'apps/v1' }, 'converting (v1.CreateOptions) to (v1.DeleteOptions): unknown conversion'],
  [{ kind: 'Table', apiVersion: 'meta.k8s.io/v1' }, 'converting (v1.Table) to (v1.DeleteOptions): unknown conversion'],
])('options of deletion that are %j', async (body, expected) => {
  let message = '';
  try {
    const raw = { bytes: Buffer.from(JSON.stringify(body)), encoding: 'json' } as const;
    await deleteOptionsBody(raw, builtinSchema(), () => undefined);
  } catch (error) {
    message = (error as StatusError).message;
  }
  expect(message).toBe(expected);
});
