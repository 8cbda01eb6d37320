// The flags of the components against upstream's: each of them is served, or accepted without effect, or refused, and docs/flags.md lists the
// latter two. The facts are made by spec/flags.mjs. After a change of the tables: npx vitest run test/component/cmd/flags.test.ts --update
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { kubeApiServerFlags } from '#apiserver/app';
import { type Command, defaultText, type FlagTable, parseFlags } from '#component-base';
import { kubeControllerManagerFlags } from '#controller-manager';
import { kubeletFlags } from '#kubelet';
import { kubeProxyFlags } from '#kube-proxy';
import { kubeSchedulerFlags } from '#scheduler';
import { sagong } from '../../../src/cmd/tree/index.ts';

interface Facts {
  source: string;
  version: string;
  components: Record<string, Record<string, [type: string, usual: string, deprecated?: string]>>;
}
const facts = JSON.parse(readFileSync(new URL('../../fixtures/flags.gen.json', import.meta.url), 'utf8')) as Facts;

interface Component {
  name: string;
  flags: FlagTable;
  /** Flags that upstream does not have, or calls otherwise. */
  own?: readonly string[];
  /** Defaults that are not upstream's, and why. */
  defaults?: Readonly<Record<string, string>>;
}

const components: readonly Component[] = [
  {
    name: 'kube-apiserver',
    flags: kubeApiServerFlags(),
    own: ['data-dir', 'decisions-from', 'metrics-from-kubelets', 'quota-backend-bytes'],
    defaults: {
      'cert-dir': 'a certificate that is made is kept in memory',
      'service-cluster-ip-range': 'upstream takes 10.0.0.0/24 when nothing is given, and says so in the log',
    },
  },
  {
    name: 'kube-controller-manager',
    flags: kubeControllerManagerFlags(),
  },
  { name: 'kube-scheduler', flags: kubeSchedulerFlags() },
  {
    name: 'kubelet',
    flags: kubeletFlags,
    own: ['pod-infra-container-image', 'pod-logs-dir'],
    defaults: {
      'cert-dir': 'a certificate that is made is kept only where the flag is given',
      'cluster-domain': 'it is cluster.local',
      'container-runtime-endpoint': 'it is unix:///run/containerd/containerd.sock',
      'read-only-port': 'there is no port without authentication',
    },
  },
  {
    name: 'kube-proxy',
    flags: kubeProxyFlags,
    defaults: { 'iptables-localhost-nodeports': 'node ports do not answer on loopback addresses' },
  },
];

/** Names as pflag's normalisation reads them. */
const upstreamOf = (name: string): Facts['components'][string] =>
  Object.fromEntries(Object.entries(facts.components[name] ?? {}).map(([flag, fact]) => [flag.replaceAll('_', '-'), fact]));

/** As pflag prints a default: without our quotes, lists and maps alike when empty. */
const plain = (text: string): string => text.replace(/^"(.*)"$/, '$1').replace(/^(\[\]|<nil>)$/, '');
const byName = (flags: FlagTable) => new Map(Object.values(flags).map((one) => [one.name, one]));

describe.each(components)('$name', ({ name, flags, own = [], defaults = {} }) => {
  const upstream = upstreamOf(name);
  const ours = byName(flags);

  test('knows every flag of upstream, and no others', () => {
    expect(Object.keys(upstream).filter((flag) => !ours.has(flag))).toEqual([]);
    expect([...ours.keys()].filter((flag) => !(flag in upstream)).sort()).toEqual([...own].sort());
    expect(Object.keys(flags)).toHaveLength(ours.size);
  });

  test('has upstream’s defaults', () => {
    const different = Object.entries(upstream).flatMap(([flag, [, usual]]) => {
      const one = ours.get(flag);
      if (!one || flag in defaults) return [];
      const own = plain(one.type.format(one.default));
      return own === plain(usual) ? [] : [`${flag}: ${own} instead of ${usual}`];
    });
    expect(different).toEqual([]);
  });

  test('takes values where upstream does, so that command lines are read alike', () => {
    const different = Object.entries(upstream).filter(([flag, [type]]) => {
      const one = ours.get(flag);
      return one && (one.type.bareValue !== undefined) !== (type === 'bool');
    });
    expect(different.map(([flag]) => flag)).toEqual([]);
  });

  test('a flag is without effect or refused, never both, and either says why', () => {
    for (const one of ours.values()) {
      expect([one.name, one.noEffect !== undefined && one.refused !== undefined]).toEqual([one.name, false]);
      expect([one.name, one.noEffect ?? one.refused ?? 'served']).not.toEqual([one.name, '']);
    }
  });

  test('refuses what it lacks, accepts it at its default, and warns of what changes nothing', () => {
    for (const one of ours.values()) {
      const unusual =
        one.type.name === ''
          ? String(one.default !== true)
          : ({ int: '7', float: '0.7', duration: '7s', mapStringString: 'a=b' }[one.type.name] ?? 'x');
      const given = [`--${one.name}=${unusual}`];
      if (one.refused !== undefined)
        expect(() => parseFlags(flags, given)).toThrow(`--${one.name} is not supported: ${one.refused}`);
      if (one.noEffect !== undefined)
        expect(parseFlags(flags, given).warnings).toContain(`Flag --${one.name} has no effect: ${one.noEffect}`);
    }
  });
});

/** Rows of a flag and why. */
const rows = (flags: FlagTable, mark: 'noEffect' | 'refused'): string[] =>
  Object.values(flags)
    .filter((one) => one[mark] !== undefined)
    .map((one) => `| \`--${one.name}\` | ${one[mark]} |`)
    .sort();

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n### \`${title}\`\n\n| flag | why |\n|---|---|\n${lines.join('\n')}\n`;

/** A table for each of our own commands; what every command about a cluster has is told once. */
function ownCommands(group: Command, path: string): string {
  const shown = (group.commands ?? []).filter(({ hidden, load }) => !hidden && !load);
  return shown
    .map((one) => {
      const title = [path, one.name, ...(one.takes ? [one.takes] : [])].join(' ');
      if (one.commands) return ownCommands(one, `${path} ${one.name}`);
      const lines = Object.values(one.flags ?? {})
        .filter(({ name, refused }) => refused === undefined && name !== 'name' && !(name === 'data-dir' && one.flags?.['name']))
        .map((flag) => `| \`--${flag.name}\` | ${flag.help} | ${defaultText(flag)} |`);
      return lines.length === 0
        ? ''
        : `\n### \`${title}\`\n\n| flag | what it does | default |\n|---|---|---|\n${lines.join('\n')}\n`;
    })
    .join('');
}

function document(): string {
  const parts = components.map(({ name, flags, own = [], defaults = {} }) => {
    const [idle, refused] = [rows(flags, 'noEffect'), rows(flags, 'refused')];
    const all = Object.keys(upstreamOf(name)).length;
    const differing = Object.entries(defaults).map(([flag, why]) => `| \`--${flag}\` | ${why} |`);
    return `
## ${name}

Of upstream's ${all} flags ${all - idle.length - refused.length} are served, ${idle.length} change nothing and ${refused.length} are refused.${own.length > 0 ? ` Its own: ${own.map((flag) => `\`--${flag}\``).join(', ')}.` : ''}
${section('Without effect', idle)}${section('Refused', refused)}${section('Other defaults', differing)}`;
  });
  return `# Flags of the components

Each component of Sagong runs alone with the flags of its namesake of Kubernetes ${facts.version}: the same names, types and defaults. Three kinds:

- **served**: the flag does what it does upstream;
- **without effect**: it tunes machinery of upstream's programs that is not here. It is accepted; a value other than the default is answered
  with one warning line at the start;
- **refused**: it asks for behaviour that is not here. A value other than the default keeps the component from starting, with a message that
  names the flag. Nothing that matters for security is ignored silently.

\`--feature-gates\` knows every gate of upstream and accepts its default; a gate that would have to be switched is refused. \`--enable-priority-and-fairness\` is
not counted. This page is made from the tables of the components (\`test/component/cmd/flags.test.ts\`).
${parts.join('')}
## Commands of sagong

Every command about a cluster takes \`--name\` (which cluster; default \`sagong\`) and \`--data-dir\` (where everything of it is kept; default
\`~/.sagong/<name>\`); \`--help\` lists all flags of a command. *As before*: the cluster keeps what was given, and a later start needs not say it again.
${ownCommands(sagong, 'sagong')}`;
}

test('docs/flags.md lists them', async () => {
  await expect(document()).toMatchFileSnapshot('../../../docs/flags.md');
});
