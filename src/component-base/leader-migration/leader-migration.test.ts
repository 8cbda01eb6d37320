import { describe, expect, it } from 'vitest';
import { defaultLeaderMigration, leaderMigrationOf, lockOf, parseLeaderMigration } from './index.ts';

const text = (version: string, rest: string): string =>
  `kind: LeaderMigrationConfiguration\napiVersion: controllermanager.config.k8s.io/${version}\n${rest}`;
const leaders = 'leaderName: l\ncontrollerLeaders:\n- name: a\n  component: x\n- name: b\n  component: "*"\n';

describe('a leader migration configuration', () => {
  it.each<[string, string]>([
    ['v1', leaders],
    ['v1beta1', `${leaders}resourceLock: leases\n`],
    ['v1alpha1', `${leaders}resourceLock: leases\n`],
  ])('is read in version %s', (version, rest) => {
    expect(parseLeaderMigration(text(version, rest))).toEqual({
      leaderName: 'l',
      resourceLock: 'leases',
      controllerLeaders: [
        { name: 'a', component: 'x' },
        { name: 'b', component: '*' },
      ],
    });
  });
  it.each<[string, string, string]>([
    ['another kind', 'kind: Pod\napiVersion: v1', 'no kind "Pod" is registered for version "v1" in scheme'],
    ['another version', text('v2', leaders), 'no kind "LeaderMigrationConfiguration" is registered for version'],
    ['no kind', 'apiVersion: v1', "Object 'Kind' is missing in"],
    ['a field too many', text('v1', `${leaders}leader: x`), 'strict decoding error: unknown field "leader"'],
    ['a lock in v1', text('v1', `${leaders}resourceLock: leases`), 'strict decoding error: unknown field "resourceLock"'],
    [
      'a field too many in a list',
      text('v1', 'leaderName: l\ncontrollerLeaders: [{name: a, component: b, who: c}]'),
      'unknown field "controllerLeaders[0].who"',
    ],
    ['a key twice', text('v1', `${leaders}leaderName: m`), 'key "leaderName" already set'],
    ['a number for a name', text('v1', 'leaderName: 7'), 'json: cannot unmarshal number into Go struct field'],
    [
      'no name of the lease',
      text('v1', 'controllerLeaders: []'),
      'failed to parse leader migration configuration: [leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration]',
    ],
    [
      'half an entry',
      text('v1', 'leaderName: l\ncontrollerLeaders: [{name: a}, {component: b}]'),
      '[controllerLeaders[0].component: Required value controllerLeaders[1].name: Required value]',
    ],
    [
      'an unknown lock',
      text('v1beta1', `${leaders}resourceLock: configmaps`),
      `resourceLock: Invalid value: "configmaps": resource Lock must be one of 'leases' or 'endpoints'`,
    ],
    ['a lock that is gone', text('v1beta1', `${leaders}resourceLock: endpoints`), 'endpoints lock is removed'],
  ])('is refused with %s', (_what, source, problem) => expect(() => parseLeaderMigration(source)).toThrow(problem));
  it('is the default without a file, and nothing without the flag', () => {
    expect(leaderMigrationOf({ enableLeaderMigration: true, leaderMigrationConfig: '' })).toBe(defaultLeaderMigration);
    expect(leaderMigrationOf({ enableLeaderMigration: false, leaderMigrationConfig: 'x' })).toBeUndefined();
    expect(() => leaderMigrationOf({ enableLeaderMigration: true, leaderMigrationConfig: '/nowhere/file' })).toThrow(
      'unable to read leader migration configuration from "/nowhere/file"',
    );
  });
});

it.each<[string[], string, string]>([
  [['a'], 'x', 'migration'],
  [['a'], 'y', 'none'],
  [['b'], 'y', 'migration'],
  [['c'], 'x', 'main'],
  [['new-name', 'a'], 'y', 'none'],
])('%j in %s runs under the lock %s', (names, component, lock) => {
  expect(lockOf(parseLeaderMigration(text('v1', leaders)), component, names)).toBe(lock);
});
