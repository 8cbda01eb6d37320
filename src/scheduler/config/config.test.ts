import { expect, test } from 'vitest';
import { parseConfiguration, profilesOf } from './load.ts';
import { ConfigurationError, type ProfileConfig } from './types.ts';

const profileOf = (config: ProfileConfig) => [...profilesOf({ profiles: [config] }).values()][0];
const names = (plugins: readonly { name: string }[] = []): string[] => plugins.map(({ name }) => name);

test('the default profile has upstream’s score plugins and weights', () => {
  const weights = profileOf({})?.score.map(({ plugin, weight }) => [plugin.name, weight]);
  expect(Object.fromEntries(weights ?? [])).toEqual({
    TaintToleration: 3,
    NodeAffinity: 2,
    NodeResourcesFit: 1,
    PodTopologySpread: 2,
    InterPodAffinity: 2,
    DynamicResources: 2,
    NodeResourcesBalancedAllocation: 1,
    ImageLocality: 1,
  });
});

test('filters run in upstream’s order', () => {
  expect(names(profileOf({})?.filter)).toEqual([
    'NodeUnschedulable',
    'NodeName',
    'TaintToleration',
    'NodeAffinity',
    'NodePorts',
    'NodeResourcesFit',
    'VolumeRestrictions',
    'NodeVolumeLimits',
    'VolumeBinding',
    'VolumeZone',
    'PodTopologySpread',
    'InterPodAffinity',
    'DynamicResources',
  ]);
});

test('one extension point is changed without touching the others', () => {
  const profile = profileOf({
    plugins: { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeResourcesFit', weight: 7 }] } },
  });
  expect(profile?.score.map(({ plugin, weight }) => [plugin.name, weight])).toEqual([['NodeResourcesFit', 7]]);
  expect(names(profile?.filter)).toContain('TaintToleration');
});

test('a plugin disabled for all points is gone from all', () => {
  const profile = profileOf({ plugins: { multiPoint: { disabled: [{ name: 'TaintToleration' }] } } });
  expect(names(profile?.filter)).not.toContain('TaintToleration');
  expect(names(profile?.score.map(({ plugin }) => plugin))).not.toContain('TaintToleration');
});

const wrong: [string, ProfileConfig[], string][] = [
  ['an unknown plugin', [{ plugins: { filter: { enabled: [{ name: 'Nope' }] } } }], 'plugin "Nope" does not exist'],
  ['a name twice', [{ schedulerName: 'a' }, { schedulerName: 'a' }], 'Duplicate value'],
  ['a percentage above 100', [{ percentageOfNodesToScore: 101 }], 'not in valid range'],
  [
    'an argument of another type',
    [{ pluginConfig: [{ name: 'InterPodAffinity', args: { hardPodAffinityWeight: 'much' } }] }],
    'decoding args for plugin InterPodAffinity: hardPodAffinityWeight: ',
  ],
  [
    'an argument that the plugin does not have',
    [{ pluginConfig: [{ name: 'VolumeBinding', args: { bindTimeout: 1 } }] }],
    'decoding args for plugin VolumeBinding: strict decoding error: unknown field "bindTimeout"',
  ],
  [
    'an argument of a plugin that takes none',
    [{ pluginConfig: [{ name: 'NodeName', args: { strict: true } }] }],
    'the plugin takes no arguments',
  ],
  ['no binder', [{ plugins: { bind: { disabled: [{ name: '*' }] } } }], 'bind plugin'],
];
test.each(wrong)('%s is refused', (_about, profiles, message) => {
  expect(() => profilesOf({ profiles })).toThrow(message);
});

test('a file of another kind is refused', () => {
  expect(() => parseConfiguration('kind: Pod\napiVersion: v1\n')).toThrow(ConfigurationError);
  expect(() => parseConfiguration(': [')).toThrow(ConfigurationError);
  const text = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: mine\n';
  expect([...profilesOf(parseConfiguration(text)).keys()]).toEqual(['mine']);
});
