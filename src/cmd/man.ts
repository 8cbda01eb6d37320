// The manual page sagong(1), in the macros of man(7). Pure: it is made of the commands and their flag tables, so that it says what the program does.
import { type Command, defaultText, type Flag } from '#component-base/flags';

/** Text of which roff reads nothing as its own: backslashes, leading dots and quotes, and dashes that are meant as such. */
const plain = (text: string): string =>
  text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replace(/^(?=[.'])/gm, String.raw`\&`);
const bold = (text: string): string => String.raw`\fB${plain(text)}\fR`;
const italic = (text: string): string => String.raw`\fI${plain(text)}\fR`;

const shownFlags = ({ flags = {} }: Command): Flag<unknown>[] =>
  Object.values(flags)
    .filter(({ hidden, deprecated }) => !hidden && deprecated === undefined)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

function flagLines(flag: Flag<unknown>): string[] {
  const names = [...(flag.shorthand ? [`-${flag.shorthand}`] : []), `--${flag.name}`].map(bold).join(', ');
  const usual = defaultText(flag);
  const value = flag.type.name === '' ? '' : ` ${italic(flag.type.name)}`;
  return ['.TP', `${names}${value}`, plain(usual === '' ? flag.help : `${flag.help} (default ${usual})`)];
}

/** A command with its flags, or each of a group. Of programs with upstream's flags there are hundreds, which their own help tells. */
function commandLines(command: Command, path: string): string[] {
  const full = `${path} ${command.name}`;
  if (command.hidden) return [];
  if (command.commands) return command.commands.flatMap((one) => commandLines(one, full));
  const flags = shownFlags(command);
  const takes = command.takes ? ` ${italic(command.takes)}` : '';
  const more = command.load
    ? [`All its flags: ${bold(`${full} --help`)}.`]
    : flags.length > 0
      ? ['.RS', ...flags.flatMap(flagLines), '.RE']
      : [];
  return ['.TP', `${bold(full)}${takes}`, plain(command.description), ...more];
}

const files = [
  [
    '~/.sagong/NAME',
    'Everything of the cluster of that name: its store, certificates, kubeconfig, logs, and the disks of its nodes.',
  ],
  ['$KUBECONFIG or ~/.kube/config', 'The context of each cluster is added here as it starts, and taken away by down.'],
] as const;
const environment = [
  ['KUBECONFIG', "Where the user's own kubeconfig is."],
  ['SAGONG_DEBUG', 'A command that fails prints its stack, too.'],
] as const;
const examples = [
  ['sagong up --nodes 3 --detach', 'Start a cluster of three nodes and come back.'],
  ['kubectl get nodes', 'Its context is the current one.'],
  ['sagong load-image app.tar', 'Put an image into every node.'],
  ['sagong node stop node-2', 'Switch a machine off.'],
  ['sagong down', 'Stop it and remove everything of it.'],
] as const;

const terms = (rows: readonly (readonly [string, string])[]): string[] =>
  rows.flatMap(([term, text]) => ['.TP', bold(term), plain(text)]);

/** `version`: of this program; the page has no date, so that the same sources make the same page. */
export function manPage(program: Command, version: string): string {
  const { name, description, commands = [] } = program;
  const sections: [title: string, lines: string[]][] = [
    ['NAME', [`${name} ${String.raw`\-`} ${plain(description.replace(/\.$/, '').replace(/^A /, 'a '))}`]],
    ['SYNOPSIS', [`${bold(name)} ${italic('command')} [${italic('argument')} ...] [${italic('flag')} ...]`]],
    [
      'DESCRIPTION',
      [
        plain(
          'A cluster is started by one command and is there in a second or two: an API server, control loops, a scheduler, and nodes that are machines of a cloud inside this one. Nodes run real containers where this machine can (Linux, root, containerd), and are simulated elsewhere. Each component also runs alone, with the name and the flags of its namesake of Kubernetes.',
        ),
      ],
    ],
    ['COMMANDS', commands.flatMap((one) => commandLines(one, name))],
    ['FILES', terms(files)],
    ['ENVIRONMENT', terms(environment)],
    ['EXIT STATUS', [plain('0 when the command did what it was asked to do; otherwise not 0, and standard error says why.')]],
    ['EXAMPLES', terms(examples)],
    ['SEE ALSO', [`${bold('kubectl')}(1), ${bold('containerd')}(8)`]],
  ];
  const head = `.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"`;
  return `${[head, ...sections.flatMap(([title, lines]) => [`.SH "${title}"`, ...lines])].join('\n')}\n`;
}
