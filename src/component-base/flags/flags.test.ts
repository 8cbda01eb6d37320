import { describe, expect, test } from 'vitest';
import { defaultLeaderElection } from '../leader-election.ts';
import { flagCommand } from './command.ts';
import { leaderElectionFlags, loggingFlags } from './common.ts';
import { flag, parseFlags } from './flags.ts';

const flags = {
  securePort: flag.int({ name: 'secure-port', default: 6443, help: 'port', section: 'Secure serving' }),
  profiling: flag.bool({ name: 'profiling', default: true, help: 'p' }),
  admission: flag.strings({ name: 'enable-admission-plugins', default: ['Default'], help: 'a' }),
  labels: flag.stringMap({ name: 'node-labels', default: {}, help: 'l' }),
  gates: flag.boolMap({ name: 'feature-gates', default: {}, help: 'g' }),
  qps: flag.float({ name: 'kube-api-qps', default: 50, help: 'q' }),
  old: flag.string({ name: 'old', default: '', help: 'o', deprecated: 'will be removed' }),
  ...loggingFlags(),
  ...leaderElectionFlags(defaultLeaderElection('kube-scheduler')),
};

test('every style of writing a flag', () => {
  const argv = [
    '--secure-port',
    '1',
    '--profiling=false',
    'rest',
    '--enable_admission_plugins=A,B',
    '--enable-admission-plugins=C',
    '-v4',
  ];
  argv.push(
    '--node-labels=a=b,c=d=e',
    '--feature-gates=X=true,Y=F',
    '--leader-elect-lease-duration=1m30s',
    '--kube-api-qps=2.5',
    '--leader-elect',
    '--',
    '--x',
  );
  const { values, changed, args } = parseFlags(flags, argv);
  expect(values).toMatchObject({
    securePort: 1,
    profiling: false,
    admission: ['A', 'B', 'C'],
    verbosity: 4,
    labels: { a: 'b', c: 'd=e' },
    gates: { X: true, Y: false },
    leaderElectLeaseDurationMs: 90_000,
    leaderElectRenewDeadlineMs: 10_000,
    qps: 2.5,
    leaderElect: true,
  });
  expect(args).toEqual(['rest', '--x']);
  expect(changed.has('securePort')).toBe(true);
  expect(changed.has('leaderElectRenewDeadlineMs')).toBe(false);
  // Types reach the caller.
  const port: number = values.securePort;
  expect(port).toBe(1);
});

describe('errors are pflag’s', () => {
  test.each([
    [['--nope=1'], 'unknown flag: --nope'],
    [['-x'], "unknown shorthand flag: 'x' in -x"],
    [['--secure-port'], 'flag needs an argument: --secure-port'],
    [['--secure-port=a'], 'invalid argument "a" for "--secure-port" flag: strconv.ParseInt: parsing "a": invalid syntax'],
    [
      ['--profiling=maybe'],
      'invalid argument "maybe" for "--profiling" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [
      ['--leader-elect-retry-period=5'],
      'invalid argument "5" for "--leader-elect-retry-period" flag: time: missing unit in duration "5"',
    ],
    [['--logging-format=xml'], 'invalid argument "xml" for "--logging-format" flag: must be one of: text, json'],
    [['---x'], 'bad flag syntax: ---x'],
  ])('%j', (argv, message) => {
    expect(() => parseFlags(flags, argv)).toThrow(message);
  });
});

test('a command runs with its values, prints help and reports a bad line', async () => {
  const written: string[] = [];
  const ports: number[] = [];
  const before = process.exitCode;
  const run = (...argv: string[]) =>
    flagCommand({
      name: 'kube-thing',
      description: 'Does things.',
      flags,
      run: ({ values }) => void ports.push(values.securePort),
      write: (stream, text) => void written.push(`${stream}: ${text}`),
    }).parseAsync(argv, { from: 'user' });
  await run('--secure-port=7', '--old=x');
  expect(ports).toEqual([7]);
  expect(written.splice(0)).toEqual(['stderr: Flag --old has been deprecated, will be removed\n']);
  await run('--help');
  expect(written.join('')).toContain('Secure serving flags:\n\n      --secure-port int\n        port (default 6443)\n');
  expect(written.splice(0).join('')).not.toContain('--old');
  await run('--bad');
  expect(written.splice(0)).toEqual(['stderr: Error: unknown flag: --bad\n']);
  await run('--secure-port=8', 'more');
  expect(written.splice(0)).toEqual(['stderr: Error: "kube-thing" does not take any arguments, got ["more"]\n']);
  await run('--version');
  expect(written.splice(0).join()).toMatch(/^stdout: Kubernetes v1\.36\.\d+/);
  await run('--version=raw');
  expect(written.splice(0).join()).toContain('"gitVersion":"v1.36.');
  expect(ports).toEqual([7]);
  process.exitCode = before;
});
