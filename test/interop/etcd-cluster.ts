// Starts real etcd members on loopback for interop tests, and says why when that is not possible here.
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.ts';

/** Version line of a program, or undefined when it is not installed. */
export function versionOf(program: string, argument = '--version'): string | undefined {
  try {
    return execFileSync(program, [argument], { encoding: 'utf8', env: { ...process.env, ETCDCTL_API: '3' } }).split('\n')[0];
  } catch {
    return undefined;
  }
}

export interface EtcdMember {
  endpoint: string;
  kill(): Promise<void>;
}

export interface EtcdCluster {
  members: readonly EtcdMember[];
  endpoints: string[];
  stop(): Promise<void>;
}

/** Starts a cluster of `size` members with fresh data; resolves when the processes run (not when a leader is elected). */
export async function startEtcd(size: number): Promise<EtcdCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-'));
  const ports: number[] = [];
  while (ports.length < size * 2) ports.push(await freePort());
  const peers = ports.slice(size).map((port, i) => `m${i}=http://127.0.0.1:${port}`);
  const members = ports.slice(0, size).map((port, i) => startMember(directory, i, port, peers));
  return {
    members,
    endpoints: members.map(({ endpoint }) => endpoint),
    async stop() {
      await Promise.all(members.map((member) => member.kill()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function startMember(directory: string, index: number, port: number, peers: readonly string[]): EtcdMember {
  const endpoint = `http://127.0.0.1:${port}`;
  const peer = peers[index]?.split('=')[1] ?? '';
  const flags = {
    name: `m${index}`,
    'data-dir': join(directory, `m${index}`),
    'listen-client-urls': endpoint,
    'advertise-client-urls': endpoint,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': peers.join(','),
    'log-level': 'error',
  };
  const child = spawn(
    'etcd',
    Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    { stdio: 'ignore' },
  );
  return { endpoint, kill: () => killed(child) };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
