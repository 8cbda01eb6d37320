// Every switch and number that a component in the process of `sagong up` takes either changes its options or is told to change nothing.
import { describe, expect, it } from 'vitest';
import { cloudControllerManagerFlags, configFromFlags } from '#cloud-controller-manager';
import { defaultsOf, type FlagTable } from '#component-base';
import { kubeControllerManagerFlags } from '#controller-manager';
import { defaultControllersConfig } from '#controllers';
import { kubeSchedulerFlags } from '#scheduler';
import { deepEqual } from '#utils';
import { cloudManagerWith, managerWith, schedulerWith } from './apply.ts';
import { type ArgComponent, idleInSharedProcess, ownedBy } from './args.ts';

const signer = { cert: 'c', key: 'k', durationMs: 31_536_000_000 };
const config = {
  ...defaultControllersConfig,
  clusterSigning: signer,
  clusterSigners: { 'kubernetes.io/kubelet-serving': signer },
};
const cloudConfig = configFromFlags(defaultsOf(cloudControllerManagerFlags));

type Words = readonly string[];
/** The last column: flags that are taken and change nothing yet, without a word. */
const rows: [ArgComponent, FlagTable, (words: Words) => Promise<unknown>, string[]][] = [
  [
    'kube-controller-manager',
    kubeControllerManagerFlags(),
    (words) => managerWith({ config, controllers: ['*'] }, words),
    [
      ...['allow-untagged-cloud', 'route-reconciliation-period', 'configure-cloud-routes', 'node-sync-period'],
      'min-resync-period',
    ],
  ],
  ['kube-scheduler', kubeSchedulerFlags(), schedulerWith, []],
  [
    'cloud-controller-manager',
    cloudControllerManagerFlags,
    (words) => cloudManagerWith({ config: cloudConfig, controllers: ['*'] }, words),
    [
      ...['use-service-account-credentials', 'allow-untagged-cloud', 'allocate-node-cidrs', 'node-sync-period'],
      'controller-start-interval',
    ],
  ],
];

/** Values other than the default; a component may refuse some. */
const othersOf = ({ default: usual, type }: FlagTable[string]): string[] => {
  if (typeof usual === 'boolean') return [String(!usual)];
  return typeof usual === 'number' ? [usual + 1000, usual + 1, usual - 1].map((value) => type.format(value)) : [];
};

describe('flags of components in one process', () => {
  it.each(rows)('%s', async (component, table, optionsWith, silent) => {
    const before = await optionsWith([]);
    const idle: string[] = [];
    for (const row of Object.values(table)) {
      const theirs = ownedBy(component, row.name, false) ?? idleInSharedProcess(component, row.name);
      const others = othersOf(row);
      if (theirs !== undefined || row.noEffect !== undefined || row.refused !== undefined || others.length === 0) continue;
      const changes = await Promise.all(
        others.map((value) =>
          optionsWith([`--${row.name}=${value}`]).then(
            (options) => !deepEqual(options, before),
            () => false,
          ),
        ),
      );
      if (!changes.includes(true)) idle.push(row.name);
    }
    expect(idle.sort()).toEqual([...silent].sort());
  });
  it('the length of signed certificates counts for every authority', async () => {
    const { config: changed } = await managerWith({ config, controllers: ['*'] }, ['--cluster-signing-duration=1h']);
    expect(changed.clusterSigning).toEqual({ ...signer, durationMs: 3_600_000 });
    expect(changed.clusterSigners).toEqual({ 'kubernetes.io/kubelet-serving': { ...signer, durationMs: 3_600_000 } });
  });
});
