// A registry of the cluster's own: what is pushed to it on the machine runs on the nodes under the same name. Needs docker-registry.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPauseImage } from '#cluster/images';
import { eventually, TestCluster } from './harness.ts';

const hasRegistry = ['docker-registry', 'registry'].some((name) => spawnSync(name, ['--version']).error === undefined);
let cluster: TestCluster;
let port: number;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as { port: number };
  server.close();
  return free;
}

/** Files of a ustar archive by name. */
function filesOf(archive: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
    const name = archive.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(archive.toString('utf8', at + 124, at + 135), 8);
    found.set(name, archive.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return found;
}

/** As any client pushes (https://distribution.github.io/distribution/spec/api/): blobs, then the manifest. */
async function push(repository: string, tag: string): Promise<void> {
  const registry = `http://localhost:${port}/v2/${repository}`;
  const files = filesOf(buildPauseImage());
  const index = JSON.parse(files.get('index.json')?.toString() ?? '') as { manifests: { digest: string; mediaType: string }[] };
  const [top] = index.manifests;
  const manifest = files.get(`blobs/${top?.digest.replace(':', '/')}`);
  for (const [name, content] of files) {
    if (!name.startsWith('blobs/sha256/') || content === manifest || content.length === 0) continue;
    const { headers } = await fetch(`${registry}/blobs/uploads/`, { method: 'POST' });
    const place = new URL(headers.get('location') ?? '', registry);
    place.searchParams.set('digest', `sha256:${createHash('sha256').update(content).digest('hex')}`);
    expect((await fetch(place, { method: 'PUT', body: new Uint8Array(content) })).status).toBe(201);
  }
  const headers = { 'content-type': top?.mediaType ?? '' };
  const body = new Uint8Array(manifest ?? Buffer.alloc(0));
  expect((await fetch(`${registry}/manifests/${tag}`, { method: 'PUT', headers, body })).status).toBe(201);
}

describe.skipIf(!hasRegistry)('a registry of its own (skipped without docker-registry)', () => {
  beforeAll(async () => {
    port = await freePort();
    cluster = await TestCluster.create();
    await cluster.up('--nodes', '1', '--registry', String(port));
  });
  afterAll(async () => {
    await cluster?.destroy();
  });

  it('tells tools where it is', async () => {
    const path = 'jsonpath={.data.localRegistryHosting\\.v1}';
    const told = await cluster.kubectl('get', 'configmap', 'local-registry-hosting', '-n', 'kube-public', '-o', path);
    expect(told).toContain(`host: localhost:${port}\n`);
  });
  it('has what is pushed to it run on nodes, over a restart too, and goes with the cluster', async () => {
    await push('team/app', '1');
    const image = `localhost:${port}/team/app:1`;
    const phase = (name: string): Promise<string> => cluster.kubectl('get', 'pod', name, '-o', 'jsonpath={.status.phase}');
    await cluster.kubectl('run', 'app', '--image', image, '--image-pull-policy', 'Always');
    await eventually('the pod runs', async () => (await phase('app')) === 'Running', 90_000);
    expect((await cluster.sagong('stop')).code).toBe(0);
    await expect(fetch(`http://localhost:${port}/v2/`)).rejects.toThrow();
    await cluster.up();
    expect(await (await fetch(`http://localhost:${port}/v2/team/app/tags/list`)).json()).toEqual({
      name: 'team/app',
      tags: ['1'],
    });
    expect(await readFile(join(cluster.dataDir, 'registry/config.yml'), 'utf8')).toContain(`addr: 127.0.0.1:${port}`);
    expect((await cluster.sagong('down')).code).toBe(0);
    await expect(fetch(`http://localhost:${port}/v2/`)).rejects.toThrow();
  });
});
