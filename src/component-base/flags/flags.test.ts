import { describe, expect, test } from 'vitest';
import { defaultLeaderElection } from '../leader-election.ts';
import { command, runCommandLine } from './command.ts';
import { leaderElectionFlags, loggingFlags } from './common.ts';
import { flag, parseFlags } from './flags.ts';

const flags = {
  securePort: flag.int({ name: 'secure-port', default: 6443, help: 'port', section: 'Secure serving' }),
  profiling: flag.bool({ name: 'profiling', default: true, help: 'p' }),
  admission: flag.strings({ name: 'enable-admission-plugins', default: ['Default'], help: 'a' }),
  labels: flag.configurationMap({ name: 'node-labels', default: {}, help: 'l' }),
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
    '--node-labels=a=b,alone,c=d=e',
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
    labels: { a: 'b', alone: '', c: 'd=e' },
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
  const thing = command({
    name: 'kube-thing',
    description: 'Does things.',
    upstream: true,
    flags,
    run: ({ values }) => void ports.push(values.securePort),
  });
  const run = (...argv: string[]) => runCommandLine(thing, argv, (stream, text) => void written.push(`${stream}: ${text}`));
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

describe('a tree of commands', () => {
  const port = flag.whole({ name: 'port', default: 80, max: 65_535, kept: true, help: 'Port.' });
  const done: unknown[] = [];
  const tree = {
    name: 'tool',
    description: 'A tool.',
    commands: [
      command({
        name: 'up',
        description: 'Starts.',
        flags: {
          port: { ...port, type: { ...port.type, bareValue: '5000', mayTake: /^[0-9]+$/ } },
          mirrors: flag.stringArray({ name: 'mirror', default: [], help: 'Mirrors.' }),
          plain: flag.bool({ name: 'no-colour', default: false, help: 'Plain.' }),
        },
        run: ({ given }) => void done.push(given),
      }),
      {
        name: 'node',
        description: 'Nodes.',
        suggestFor: ['machine'],
        commands: [
          command({
            name: 'shell',
            takes: '<node> [command...]',
            description: 'Runs a shell.',
            flags: { to: flag.string({ name: 'to', default: '', required: true, help: 'Where.' }) },
            run: ({ args }) => void done.push(args),
          }),
        ],
      },
    ],
  };
  const say = async (...argv: string[]): Promise<string> => {
    const written: string[] = [];
    const before = process.exitCode;
    await runCommandLine(tree, argv, (_stream, text) => void written.push(text));
    process.exitCode = before;
    return written.join('');
  };

  test('hands over only what was given', async () => {
    await say('up', '--port', '7', '--mirror', 'a,b', '--mirror=c');
    await say('up', '--port', '--no-colour');
    await say('up');
    expect(done.splice(0)).toEqual([{ port: 7, mirrors: ['a,b', 'c'] }, { port: 5000, plain: true }, {}]);
  });

  test('leads to a command inside a group, with words of its own behind --', async () => {
    await say('node', 'shell', '--to=x', 'a', '--', 'ls', '-l');
    expect(done.splice(0)).toEqual([['a', 'ls', '-l']]);
  });

  test.each([
    [['up', 'x'], '"tool up" does not take any arguments, got ["x"]'],
    [['up', '--port=70000'], 'invalid argument "70000" for "--port" flag: must be a whole number up to 65535'],
    [['node', 'shell', '--to=x'], '"tool node shell" needs <node>'],
    [['node', 'shell', 'a'], 'required flag(s) "to" not set'],
    [['up', '--version'], 'unknown flag: --version'],
    [['node', 'nothing'], 'unknown command "nothing" for "tool node"'],
    [['x'.repeat(100_000)], `unknown command "${'x'.repeat(100_000)}" for "tool"`],
    [['--loud'], 'unknown flag: --loud'],
  ])('%j is refused', async (argv, message) => {
    expect(await say(...argv)).toContain(`Error: ${message}\nSee 'tool`);
    expect(done).toEqual([]);
  });

  test.each([
    ['ndoe', 'node'],
    ['no', 'node'],
    ['NODE', 'node'],
    ['machine', 'node'],
  ])('says of %s which command may have been meant', async (word, meant) => {
    expect(await say(word)).toBe(
      `Error: unknown command "${word}" for "tool"\n\nDid you mean this?\n\t${meant}\n\nSee 'tool --help' for usage.\n`,
    );
  });

  test('has help everywhere, with the defaults of the table', async () => {
    expect(await say('--help')).toContain('Commands:\n  up    Starts.\n  node  Nodes.\n');
    expect(await say()).toBe(await say('--help'));
    expect(await say('help', 'node', 'shell')).toContain('Usage:\n  tool node shell <node> [command...] [flags]\n');
    expect(await say('up', '-h')).toContain('--port int\n        Port. (default as before, or 80)\n');
  });
});
