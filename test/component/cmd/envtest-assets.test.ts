// The programs of `sagong envtest-assets`, started, probed and ended as controller-runtime's envtest does it, without Go.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPair } from '#pki';
import { assetsFolder, shellWord, writeEnvtestAssets } from '../../../src/cmd/commands/envtest-assets.ts';

const source = new URL('../../../src/cmd/main.ts', import.meta.url).pathname;
const startTimeoutMs = 60_000;

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

const statusOfHttps = (port: number, path: string): Promise<number> =>
  new Promise((resolve) => {
    request({ port, path, host: '127.0.0.1', rejectUnauthorized: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', () => resolve(0))
      .end();
  });

it('names its folder as setup-envtest does, and quotes what a shell would read', () => {
  expect(assetsFolder('v1.36.2+sagong.0.1.0', 'linux', 'x64')).toBe('1.36.2-linux-amd64');
  expect(assetsFolder('v1.36.2', 'darwin', 'arm64')).toBe('1.36.2-darwin-arm64');
  expect(shellWord("it's")).toBe(String.raw`'it'\''s'`);
});

describe('what is written', () => {
  const children: ChildProcess[] = [];
  let dir: string;
  let assets: string;
  const start = (name: string, args: string[]): { child: ChildProcess; ended: Promise<number | null> } => {
    const child = spawn(join(assets, name), args, { stdio: ['ignore', 'ignore', 'inherit'] });
    children.push(child);
    return { child, ended: new Promise((resolve) => child.once('exit', (code) => resolve(code))) };
  };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sagong-assets-'));
    const main = join(dir, 'sagong.cjs');
    await build({
      ...{ entryPoints: [source], outfile: main, bundle: true, platform: 'node', format: 'cjs', logLevel: 'silent' },
      conditions: ['sagong-src'],
      external: ['@sagong/*'],
    });
    assets = await writeEnvtestAssets(dir, [process.execPath, main], '');
  });
  afterAll(async () => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
  });

  it('is kube-apiserver, etcd and kubectl; without a kubectl on the machine one that says so', async () => {
    expect((await readdir(assets)).sort()).toEqual(['etcd', 'kube-apiserver', 'kubectl']);
    const failed = await promisify(execFile)(join(assets, 'kubectl')).catch((error: { stderr: string }) => error);
    expect(failed.stderr).toContain('not on the PATH of this machine');
  });

  it(
    'is asked for its flags, starts, answers probes and ends on SIGTERM',
    async () => {
      const { stdout: help } = await promisify(execFile)(join(assets, 'etcd'), ['--help']);
      expect(help).toMatch(/^\s*--unsafe-no-fsync\b/m);
      const [port, apiPort] = [await freePort(), await freePort()];
      const url = `http://127.0.0.1:${port}`;
      const etcd = start('etcd', [
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        '--listen-peer-urls=http://localhost:0',
        `--data-dir=${join(dir, 'data')}`,
        '--unsafe-no-fsync=true',
      ]);
      const health = (): Promise<unknown> =>
        fetch(`${url}/health`).then(
          (answer) => answer.json(),
          () => undefined,
        );
      await expect.poll(health, { timeout: startTimeoutMs }).toEqual({ health: 'true', reason: '' });
      expect((await fetch(`${url}/nothing`)).status).toBe(404);
      const { publicKey, privateKey } = generateKeyPair();
      await writeFile(join(dir, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
      await writeFile(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
      const apiserver = start('kube-apiserver', [
        `--etcd-servers=${url}`,
        `--cert-dir=${join(dir, 'certs')}`,
        `--secure-port=${apiPort}`,
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        '--allow-privileged=true',
        '--authorization-mode=RBAC',
        '--disable-admission-plugins=ServiceAccount',
        '--service-cluster-ip-range=10.0.0.0/24',
        '--service-account-issuer=https://127.0.0.1/',
        `--service-account-key-file=${join(dir, 'sa.pub')}`,
        `--service-account-signing-key-file=${join(dir, 'sa.key')}`,
      ]);
      await expect.poll(() => statusOfHttps(apiPort, '/readyz'), { timeout: startTimeoutMs }).toBe(200);
      for (const { child, ended } of [apiserver, etcd]) {
        child.kill('SIGTERM');
        expect(await ended).toBe(0);
      }
    },
    3 * startTimeoutMs,
  );
});
