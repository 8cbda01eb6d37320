import { describe, expect, it } from 'vitest';
import { builtinResources, builtinSchema } from '#api';
import { atOnce, createFieldManager } from '#apimachinery/managedfields';
import { apiVersionOf, type UnknownObject } from '#apimachinery/meta';
import { strategicMergePatch } from '#apimachinery/patch';

const table = builtinSchema();
const writer = { manager: 'me', time: '2026-01-01T00:00:00Z' };

describe('every built-in kind', () => {
  const kinds = builtinResources().filter(({ subresource, verbs }) => subresource === '' && verbs.includes('patch'));

  it('is there', () => {
    expect(kinds.length).toBeGreaterThan(50);
  });

  it.each(kinds.map(({ kind }) => [`${kind.group}/${kind.version} ${kind.kind}`, kind] as const))(
    '%s takes an apply twice',
    (_, kind) => {
      const type = table.kind(kind.group, kind.version, kind.kind);
      const apiVersion = apiVersionOf(kind.group, kind.version);
      const manager = atOnce(createFieldManager(table, type?.name ?? ''));
      const patch: UnknownObject = { apiVersion, kind: kind.kind, metadata: { name: 'a', labels: { l: '1' } } };
      const made = manager.apply(undefined, patch, { ...writer, apiVersion });
      expect(made.metadata.managedFields).toEqual([
        expect.objectContaining({
          manager: 'me',
          operation: 'Apply',
          apiVersion,
          fieldsV1: { 'f:metadata': { 'f:labels': { 'f:l': {} } } },
        }),
      ]);
      const live = { ...made, metadata: { ...made.metadata, uid: 'u' } };
      expect(manager.apply(live, patch, { ...writer, apiVersion, time: '2026-01-02T00:00:00Z' })).toEqual(live);
      expect(
        strategicMergePatch(table, type?.name ?? '', live, { metadata: { labels: { l: null, m: '2' } } }).object,
      ).toMatchObject({
        metadata: { labels: { m: '2' } },
      });
    },
  );
});

it('knows the keys and defaults of a Service', () => {
  const manager = atOnce(createFieldManager(table, 'io.k8s.api.core.v1.Service', { resetFields: [['status']] }));
  const service: UnknownObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { ports: [{ port: 80 }], selector: { a: 'b' } },
    status: { loadBalancer: {} },
  };
  const { managedFields } = manager.create(service, { ...writer, apiVersion: 'v1' }).metadata;
  expect(managedFields?.[0]?.fieldsV1).toEqual({
    'f:spec': { 'f:ports': { '.': {}, 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } }, 'f:selector': {} },
  });
});
