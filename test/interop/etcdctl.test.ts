// Unmodified etcdctl against the embedded store's etcd front.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import type { EmbeddedStore, EtcdFront } from '#store';
import { openDiskStore, readSnapshotStatus, serveEtcd } from '#store';
import { versionOf } from './etcd-cluster.ts';

const version = versionOf('etcdctl', 'version');
const run = promisify(execFile);

describe.skipIf(!version)(`etcdctl${version ? '' : ' (skipped: no etcdctl program on this machine)'}`, () => {
  let directory = '';
  let store: EmbeddedStore;
  let front: EtcdFront;
  let connection: string[] = [];
  const env = { ...process.env, ETCDCTL_API: '3' };
  const etcdctl = async (...args: string[]): Promise<string> =>
    (await run('etcdctl', [...connection, ...args], { env })).stdout.trimEnd();
  /** With text on standard input. */
  const etcdctlWith = async (input: string, ...args: string[]): Promise<string> => {
    const running = run('etcdctl', [...connection, ...args], { env });
    running.child.stdin?.on('error', () => {});
    running.child.stdin?.end(input);
    return (await running).stdout.trimEnd();
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'etcdctl-'));
    const ca = createCertificateAuthority({ commonName: 'etcd-ca' });
    const server = issueCertificate({ ca, commonName: 'etcd', ips: ['127.0.0.1'], usages: ['digital signature', 'server auth'] });
    const client = issueCertificate({ ca, commonName: 'root', usages: ['digital signature', 'client auth'] });
    const files = { cacert: ca.cert, cert: client.cert, key: client.key };
    for (const [name, pem] of Object.entries(files)) await writeFile(join(directory, `${name}.pem`), pem, { mode: 0o600 });
    store = await openDiskStore({ path: join(directory, 'store') });
    front = await serveEtcd({ store, tls: { ...server, clientCa: ca.cert } });
    connection = [
      `--endpoints=${front.endpoint}`,
      ...Object.keys(files).map((name) => `--${name}=${join(directory, `${name}.pem`)}`),
    ];
  });
  afterAll(async () => {
    await front?.close();
    await store?.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('put, get, get --prefix, del', async () => {
    expect(await etcdctl('put', '/kv/a', '1')).toBe('OK');
    expect(await etcdctl('put', '/kv/b', '2')).toBe('OK');
    expect(await etcdctl('put', '/kv/a', '3', '--prev-kv')).toBe('OK\n/kv/a\n1');
    expect(await etcdctl('get', '/kv/a')).toBe('/kv/a\n3');
    expect(await etcdctl('get', '--prefix', '/kv/')).toBe('/kv/a\n3\n/kv/b\n2');
    expect(await etcdctl('get', '--prefix', '/kv/', '--keys-only', '--limit=1')).toBe('/kv/a');
    expect(await etcdctl('get', '--prefix', '/kv/', '--sort-by=VALUE', '--order=ASCEND', '--print-value-only')).toBe('2\n3');
    expect(await etcdctl('get', '--prefix', '/kv/', '--order=DESCEND', '--keys-only')).toBe('/kv/b\n\n/kv/a');
    expect(await etcdctl('get', '--from-key', '/kv/b', '--keys-only')).toBe('/kv/b');
    const { revision } = store.rangeSync({ key: '/kv/a' });
    expect(await etcdctl('get', '/kv/a', `--rev=${revision - 1}`)).toBe('/kv/a\n1');
    const json = JSON.parse(await etcdctl('get', '--prefix', '/kv/', '--limit=1', '--write-out=json'));
    expect(json).toMatchObject({ count: 2, more: true, header: { revision } });
    expect(await etcdctl('del', '/kv/a', '--prev-kv')).toBe('1\n/kv/a\n3');
    expect(await etcdctl('del', '--prefix', '/kv/')).toBe('1');
  });

  test('txn with every kind of comparison', async () => {
    await etcdctl('put', '/txn/a', 'old');
    const request = (value: string): string =>
      `value("/txn/a") = "${value}"\nmod("/txn/none") = "0"\n\nput /txn/a new\nget /txn/a\n\nget /txn/a\n\n`;
    expect(await etcdctlWith(request('old'), 'txn')).toBe('SUCCESS\n\nOK\n\n/txn/a\nnew');
    expect(await etcdctlWith(request('old'), 'txn')).toBe('FAILURE\n\n/txn/a\nnew');
    expect(await etcdctlWith('ver("/txn/a") > "1"\nvalue("/txn/none") != "x"\n\n\n\n', 'txn')).toContain('FAILURE');
  });

  test('watch, also from the past', async () => {
    await etcdctl('put', '/watch/a', 'before');
    const { revision } = store.rangeSync({ key: '/watch/a' });
    const child = spawn('etcdctl', [...connection, 'watch', '--prefix', '/watch/', `--rev=${revision}`, '--prev-kv'], { env });
    let output = '';
    const complete = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk;
        if (/DELETE\n.*\n.*\n.*\n/.test(output)) resolve();
      });
    });
    const exited = once(child, 'exit');
    try {
      await etcdctl('put', '/watch/a', 'after');
      await etcdctl('del', '/watch/a');
      await complete;
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
    const expected = 'PUT /watch/a before PUT /watch/a before /watch/a after DELETE /watch/a after /watch/a';
    expect(output.trimEnd().split('\n').join(' ')).toBe(expected);
  });

  test('leases', async () => {
    const granted = await etcdctl('lease', 'grant', '60');
    const [, id = ''] = /^lease (\w+) granted with TTL\(60s\)$/.exec(granted) ?? [];
    expect(id).not.toBe('');
    await etcdctl('put', '/leased', 'x', `--lease=${id}`);
    expect(await etcdctl('lease', 'timetolive', id, '--keys')).toMatch(
      /granted with TTL\(60s\), remaining\(\d+s\), attached keys\(\[\/leased\]\)$/,
    );
    expect(await etcdctl('lease', 'list')).toContain(id);
    expect(await etcdctl('lease', 'keep-alive', '--once', id)).toBe(`lease ${id} keepalived with TTL(60)`);
    expect(await etcdctl('lease', 'revoke', id)).toBe(`lease ${id} revoked`);
    expect(await etcdctl('get', '/leased')).toBe('');
    expect(await etcdctl('lease', 'timetolive', id)).toBe(`lease ${id} already expired`);
  });

  test('status, health, members, alarms, compaction', async () => {
    const [status] = JSON.parse(await etcdctl('endpoint', 'status', '--write-out=json'));
    expect(status).toMatchObject({
      Endpoint: front.endpoint,
      Status: { version: '3.6.0', leader: 1, header: { revision: store.revision() } },
    });
    expect(status.Status.dbSize).toBeGreaterThan(0);
    const health = await run('etcdctl', [...connection, 'endpoint', 'health'], { env });
    expect(health.stdout + health.stderr).toContain('is healthy');
    expect(await etcdctl('member', 'list')).toContain(`started, default, ${front.endpoint}`);
    expect(await etcdctl('alarm', 'list')).toBe('');
    const revision = store.revision();
    await etcdctl('put', '/compact', '1');
    expect(await etcdctl('compact', String(revision))).toBe(`compacted revision ${revision}`);
    const failure = await etcdctl('get', '/compact', `--rev=${revision - 1}`).catch((error: { stderr: string }) => error.stderr);
    expect(failure).toContain('etcdserver: mvcc: required revision has been compacted');
  });

  test('defragmentation, alarms and a snapshot as a stream', async () => {
    expect(await etcdctl('defrag')).toContain('Finished defragmenting etcd member');
    expect(await etcdctl('alarm', 'list')).toBe('');
    const file = join(directory, 'saved.db');
    expect(await etcdctl('snapshot', 'save', file)).toContain('Snapshot saved at');
    const status = JSON.parse(await etcdctl('snapshot', 'status', file, '--write-out=json'));
    expect(status.revision).toBe(store.revision());
    const { version: _, ...read } = await readSnapshotStatus(file);
    expect(status).toEqual(read);
  });

  test('a store at its quota has the alarm NOSPACE, until there is room again', async () => {
    const full = await openDiskStore({ path: join(directory, 'full'), quotaBytes: 1024 * 1024 });
    const other = await serveEtcd({ store: full });
    const at = (...args: string[]): Promise<{ stdout: string }> =>
      run('etcdctl', [`--endpoints=${other.endpoint}`, ...args], { env });
    try {
      const value = 'x'.repeat(100_000);
      const fill = async (): Promise<void> => {
        for (let i = 0; i < 20; i++) await at('put', `/full/${i}`, value);
      };
      await expect(fill()).rejects.toThrow('etcdserver: mvcc: database space exceeded');
      expect((await at('alarm', 'list')).stdout).toBe('memberID:1 alarm:NOSPACE \n');
      await at('del', '/full/', '--prefix');
      await full.compact(full.revision());
      await at('put', '/small', '1');
      expect((await at('alarm', 'list')).stdout).toBe('');
    } finally {
      await other.close();
      await full.close();
    }
  });
});
