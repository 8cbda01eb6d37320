import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '#host';
import { createCertificateAuthority } from '#pki';
import { openMemoryStore, saveSnapshot } from '#store';
import { assertOwnSnapshot } from './snapshot-origin.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'origin-'));
  await mkdir(join(dir, 'pki'));
});
afterEach(() => rm(dir, { recursive: true }));

const [own, other] = ['a', 'b'].map((commonName) => createCertificateAuthority({ commonName }).cert) as [string, string];

async function snapshotWith(value: string | undefined): Promise<string> {
  const store = openMemoryStore({ clock: systemClock() });
  const key = '/registry/configmaps/kube-system/kube-root-ca.crt';
  const success = [{ op: 'put' as const, key, value: Buffer.from(value ?? '') }];
  if (value !== undefined) await store.txn({ compare: [], success });
  const file = join(dir, 'snapshot.db');
  await saveSnapshot(store, file);
  await store.close();
  return file;
}

const inProtobuf = (pem: string): string => `k8s\0\n\x06ca.crt\x12${pem}\x1a\0`;
const inJson = (pem: string): string => JSON.stringify({ kind: 'ConfigMap', data: { 'ca.crt': pem } });

it.each<[string, string | undefined, boolean]>([
  ['of this cluster', inProtobuf(own), true],
  ['of this cluster, in JSON', inJson(own), true],
  ['of another cluster', inProtobuf(other), false],
  ['of another cluster, in JSON', inJson(other), false],
  ['of a cluster whose authority is followed by the next one', inProtobuf(`${other}${own}`), true],
  ['that does not say whose it is', undefined, true],
  ['that hides it', 'k8s:enc:secretbox:v1:key1:...', true],
])('a snapshot %s', async (_what, stored, isOwn) => {
  await writeFile(join(dir, 'pki', 'ca.crt'), own);
  const asked = assertOwnSnapshot(dir, await snapshotWith(stored));
  if (isOwn) await expect(asked).resolves.toBeUndefined();
  else await expect(asked).rejects.toThrow(/ is of another cluster: .* go on with --force$/);
});

it('is not asked about where there is no authority yet', async () => {
  await expect(assertOwnSnapshot(dir, await snapshotWith(inProtobuf(other)))).resolves.toBeUndefined();
});
