// Every flag that a component of `sagong up` takes in a process that it shares either changes its options or is told to change nothing.
import { describe, expect, it } from 'vitest';
import { defaultOptions as apiserverDefaults, kubeApiServerFlags } from '#apiserver/app';
import { cloudControllerManagerFlags, configFromFlags } from '#cloud-controller-manager';
import { defaultsOf, type FlagTable } from '#component-base';
import { kubeControllerManagerFlags } from '#controller-manager';
import { defaultControllersConfig } from '#controllers';
import { kubeProxyFlags } from '#kube-proxy';
import { defaultOptions as kubeletDefaults, kubeletFlags } from '#kubelet';
import { kubeSchedulerFlags } from '#scheduler';
import { deepEqual } from '#utils';
import { apiserverWith, cloudManagerWith, kubeletWith, managerWith, proxyWith, schedulerWith } from './apply.ts';
import { type ArgComponent, idleInSharedProcess, ownedBy } from '../flags/component-args.ts';

const signer = { cert: 'c', key: 'k', durationMs: 31_536_000_000 };
const config = {
  ...defaultControllersConfig,
  clusterSigning: signer,
  clusterSigners: { 'kubernetes.io/kubelet-serving': signer },
};
const cloudConfig = configFromFlags(defaultsOf(cloudControllerManagerFlags));

const trust = { ca: 'ca', allowedNames: [], usernameHeaders: [], uidHeaders: [], groupHeaders: [], extraHeaderPrefixes: [] };
const apiserver = {
  ...apiserverDefaults(),
  allowPrivileged: true,
  aggregatorRouting: true,
  bootstrapTokens: true,
  requestHeader: trust,
};
const kubelet = {
  options: kubeletDefaults('n'),
  serving: { tls: { cert: 'c', key: 'k' }, anonymous: false, tokenReview: true, authorization: 'Webhook' as const },
  healthz: { host: '127.0.0.1', port: 10_248 },
};

type Words = readonly string[];
const rows: [ArgComponent, FlagTable, (words: Words) => Promise<unknown>][] = [
  ['kube-apiserver', kubeApiServerFlags(), (words) => apiserverWith(apiserver, words)],
  ['kube-controller-manager', kubeControllerManagerFlags(), (words) => managerWith({ config, controllers: ['*'] }, words)],
  ['kube-scheduler', kubeSchedulerFlags(), schedulerWith],
  [
    'cloud-controller-manager',
    cloudControllerManagerFlags,
    (words) => cloudManagerWith({ config: cloudConfig, controllers: ['*'] }, words),
  ],
  ['kubelet', kubeletFlags, (words) => kubeletWith(kubelet, words)],
  ['kube-proxy', kubeProxyFlags, (words) => proxyWith({ nodeName: 'n' }, words)],
];

const texts = [
  'x',
  '',
  '7',
  'a=b',
  '192.0.2.1',
  '192.0.2.1:80',
  '10.9.0.0/16',
  'https://x.example',
  'memory.available<5%',
  'a=b:NoSchedule',
  'cpu=1',
  'memory.available=1m',
  'VersionTLS13',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'X25519MLKEM768',
  '1Mi',
  'AlwaysPullImages',
  'Node',
  '1.36',
  'RSA',
  import.meta.filename,
];

/** Values other than the default; a component may refuse some. */
const othersOf = ({ default: usual, type }: FlagTable[string]): readonly string[] => {
  if (typeof usual === 'boolean') return ['true', 'false'];
  if (typeof usual === 'number') return [usual + 1000, usual + 1, usual - 1].map((value) => type.format(value));
  return type.choices ?? texts;
};

const idleUnlessUsual = ({ default: usual, type }: FlagTable[string], value: string): 'idle' | 'usual' =>
  deepEqual(type.parse(value), usual) ? 'usual' : 'idle';

/** What says at the start that a flag changes nothing, or refuses it. */
const isTold = (component: ArgComponent, { name, noEffect, refused, deprecated = '' }: FlagTable[string]): boolean =>
  [ownedBy(component, name, false), idleInSharedProcess(component, name), noEffect, refused].some((why) => why !== undefined) ||
  deprecated.includes('no-op');

/** Flags whose every accepted value means the same, and those that count beside another flag only, as upstream's. */
const apart = [
  ...['cidr-allocator-type', 'emulated-version', 'min-compatibility-version', 'storage-backend', 'detect-local-mode'],
  ...['authentication-token-webhook-cache-ttl', 'authentication-token-webhook-version', 'authorization-webhook-version'],
  ...['authorization-webhook-cache-authorized-ttl', 'authorization-webhook-cache-unauthorized-ttl'],
];

describe('flags of components in one process', () => {
  it.each(rows)('%s', async (component, table, optionsWith) => {
    const before = await optionsWith([]);
    const idle: string[] = [];
    for (const row of Object.values(table)) {
      if (isTold(component, row) || apart.includes(row.name)) continue;
      const outcomes = await Promise.all(
        othersOf(row).map((value) =>
          optionsWith([`--${row.name}=${value}`]).then(
            (options) => (deepEqual(options, before) ? idleUnlessUsual(row, value) : 'changes'),
            () => 'refused',
          ),
        ),
      );
      const counts = outcomes.includes('changes') || !outcomes.includes('idle');
      if (!counts) idle.push(row.name);
    }
    expect(idle.sort()).toEqual([]);
  });
  it('the length of signed certificates counts for every authority', async () => {
    const { config: changed } = await managerWith({ config, controllers: ['*'] }, ['--cluster-signing-duration=1h']);
    expect(changed.clusterSigning).toEqual({ ...signer, durationMs: 3_600_000 });
    expect(changed.clusterSigners).toEqual({ 'kubernetes.io/kubelet-serving': { ...signer, durationMs: 3_600_000 } });
  });
});
