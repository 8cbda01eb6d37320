#!/usr/bin/env node
// Makes a fresh clone ready: dependencies, build, and (Debian or Ubuntu, as root) the system packages that real nodes and their tests
// need. Every step says what it does and why, and is skipped when done. Uses nothing but Node, because nothing else is there yet.
//   node scripts/setup.mjs [--for start|control-planes|test]
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashOf, hashOfInputs, isBuilt, noteBuilt, unchanged } from './built.mjs';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const purposes = ['start', 'control-planes', 'test'];
const [option = '--for', purpose = process.argv.length > 2 ? '' : 'start', ...rest] = process.argv.slice(2);
if (option !== '--for' || !purposes.includes(purpose) || rest.length > 0) {
  console.error(`usage: node scripts/setup.mjs [--for ${purposes.join('|')}]`);
  process.exit(2);
}
const say = (text) => console.log(`[setup] ${text}`);

/** Debian package, the program that shows it is there, why it is wanted, and for which purpose. */
const packages = [
  { name: 'containerd', program: 'containerd', why: 'runs containers', for: 'start' },
  { name: 'runc', program: 'runc', why: 'starts containers for containerd', for: 'start' },
  { name: 'containernetworking-plugins', program: '/usr/lib/cni/bridge', why: 'connects pods to their node', for: 'start' },
  { name: 'iptables', program: 'iptables-restore', why: "kube-proxy's packet rules", for: 'start' },
  { name: 'nftables', program: 'nft', why: 'packet rules of network policies', for: 'start' },
  { name: 'iproute2', program: 'ip', why: 'network namespaces and links of nodes', for: 'start' },
  { name: 'util-linux', program: 'nsenter', why: 'enters the namespaces of nodes', for: 'start' },
  { name: 'conntrack', program: 'conntrack', why: 'lets kube-proxy end stale flows', for: 'start' },
  { name: 'busybox-static', program: 'busybox', why: 'the shell and wget of the demo image', for: 'start' },
  { name: 'ca-certificates', program: '/etc/ssl/certs/ca-certificates.crt', why: 'pulling images over TLS', for: 'start' },
  { name: 'etcd-server', program: 'etcd', why: 'control planes of several machines', for: 'control-planes' },
  { name: 'etcd-client', program: 'etcdctl', why: 'snapshots of the etcd of control planes', for: 'control-planes' },
  { name: 'docker-registry', program: 'docker-registry', why: 'tests that pull from a registry on this machine', for: 'test' },
  { name: 'haproxy', program: 'haproxy', why: 'load balancers of the local cloud', for: 'start' },
  { name: 'curl', program: 'curl', why: 'tests as a user would make a request', for: 'test' },
];

function onPath(program) {
  const candidates = program.startsWith('/')
    ? [program]
    : [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'].map((dir) => join(dir, program));
  return candidates.some((path) => {
    try {
      accessSync(path, constants.R_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function step(title, command, args, options = {}) {
  say(`${title} ...`);
  const started = Date.now();
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options });
  if (result.status !== 0) {
    console.error(`[setup] ${title} failed${result.error ? `: ${result.error.message}` : ` (exit code ${result.status})`}`);
    process.exit(1);
  }
  say(`${title}: done in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`[setup] Node ${process.versions.node} is too old: Sagong needs 20.19 or newer (https://nodejs.org)`);
  process.exit(1);
}

/** A cluster needs no vendor's SDK: those come with the tests. */
const withVendors = purpose === 'test';

function installDependencies() {
  const stamp = join(root, 'node_modules', '.sagong-lock');
  const hash = hashOf(readFileSync(join(root, 'package-lock.json')), process.version);
  if (unchanged(stamp, hash) || (!withVendors && unchanged(stamp, `${hash} without vendors`))) return;
  const all = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  if (withVendors) step('installing dependencies (npm ci)', 'npm', all);
  else step("installing dependencies (npm ci, without the cloud vendors' SDKs)", 'npm', [...all, '--workspaces=false']);
  writeFileSync(stamp, withVendors ? hash : `${hash} without vendors`);
}

function build() {
  if (isBuilt()) return;
  const hash = hashOfInputs();
  step('building', process.execPath, ['scripts/build.mjs']);
  noteBuilt(hash);
}

function isDebian() {
  try {
    return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

/** Installed services must not start: clusters bring their own containerd, etcd and so on. */
function withoutServices(work) {
  const policy = '/usr/sbin/policy-rc.d';
  const made = !existsSync(policy);
  if (made) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    work();
  } finally {
    if (made) rmSync(policy, { force: true });
  }
}

function installPackages() {
  const missing = packages.filter(
    (entry) => (entry.for === 'start' || entry.for === purpose || purpose === 'test') && !onPath(entry.program),
  );
  if (missing.length === 0) return;
  const list = missing.map(({ name, why }) => `  ${name.padEnd(28)} ${why}`).join('\n');
  if (process.platform !== 'linux') return say(`this is not Linux: nodes will be simulated (pods are not real processes)`);
  if (process.getuid?.() !== 0)
    return say(
      `not root: nodes will be simulated unless these are there:\n${list}\n[setup] to have real containers: sudo apt-get install ${missing.map(({ name }) => name).join(' ')}, then run as root`,
    );
  if (!isDebian() || !onPath('apt-get'))
    return say(`please install with your package manager (until then nodes are simulated):\n${list}`);
  say(`installing system packages:\n${list}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  withoutServices(() => {
    step('apt-get update', 'apt-get', ['update', '-qq'], { env });
    const names = missing.map(({ name }) => name);
    try {
      execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      say('system packages: done');
    } catch {
      say(`some packages could not be installed; what needs them will say so (${names.join(', ')})`);
    }
  });
}

checkNode();
installDependencies();
build();
installPackages();
