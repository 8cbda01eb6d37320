// Scripts that complete the command line in bash, zsh and fish. Pure: they are made from the tree of commands and hold all of it, so that pressing
// the key starts no program.

export interface CommandTree {
  name: string;
  description: string;
  /** The flags with their dashes. */
  options: readonly { flag: string; description: string; values?: readonly string[] }[];
  commands: readonly CommandTree[];
}

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Place {
  /** Words that lead there, '' at the top. */
  path: string;
  at: CommandTree;
}

const placesOf = (tree: CommandTree, path = ''): Place[] => [
  { path, at: tree },
  ...tree.commands.flatMap((command) => placesOf(command, path === '' ? command.name : `${path} ${command.name}`)),
];

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const words = ({ commands, options }: CommandTree): string =>
  [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag)].join(' ');

/** Lines of a shell function that follows the words typed so far; `$known` are the words that can come next. */
function walk(tree: CommandTree): string[] {
  const places = placesOf(tree);
  const steps = places.flatMap(({ path, at }) =>
    at.commands.map(
      ({ name }) => `      ${quoted(`${path}:${name}`)}) place=${quoted(path === '' ? name : `${path} ${name}`)} ;;`,
    ),
  );
  const nexts = places.map(({ path, at }) => `    ${quoted(path)}) known=${quoted(words(at))} ;;`);
  const values = places.flatMap(({ path, at }) =>
    at.options.flatMap((option) =>
      option.values ? [`    ${quoted(`${path}:${option.flag}`)}) known=${quoted(option.values.join(' '))} ;;`] : [],
    ),
  );
  return [
    '    case "$place:$word" in',
    ...steps,
    '    esac',
    '  done',
    '  case "$place" in',
    ...nexts,
    '  esac',
    // Behind a flag that has so many values, one of them.
    ...(values.length > 0 ? ['  case "$place:$word" in', ...values, '  esac'] : []),
  ];
}

const bash = (tree: CommandTree): string =>
  [
    '# bash completion for sagong; load it with: source <(sagong completion bash)',
    '_sagong() {',
    "  local place='' known='' word",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    ...walk(tree),
    '  COMPREPLY=($(compgen -W "$known" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _sagong sagong',
    '',
  ].join('\n');

const zsh = (tree: CommandTree): string =>
  [
    '#compdef sagong',
    '# zsh completion for sagong; load it with: source <(sagong completion zsh)',
    '_sagong() {',
    "  local place='' known='' word",
    '  for word in ${words[2,CURRENT-1]}; do',
    ...walk(tree),
    '  compadd -- ${=known} || _files',
    '}',
    'compdef _sagong sagong',
    '',
  ].join('\n');

function fish(tree: CommandTree): string {
  const lines = ['# fish completion for sagong; load it with: sagong completion fish | source'];
  for (const { path, at } of placesOf(tree)) {
    const seen = path.split(' ').filter((word) => word !== '');
    const here = [
      ...seen.map((word) => `__fish_seen_subcommand_from ${word}`),
      ...(at.commands.length > 0 ? [`not __fish_seen_subcommand_from ${at.commands.map(({ name }) => name).join(' ')}`] : []),
    ].join('; and ');
    const condition = here === '' ? '' : ` -n ${quoted(here)}`;
    for (const { name, description } of at.commands)
      lines.push(`complete -c sagong -f${condition} -a ${name} -d ${quoted(description)}`);
    for (const { flag, description, values } of at.options) {
      const value = values ? ` -x -a ${quoted(values.join(' '))}` : '';
      const name = `${flag.startsWith('--') ? '-l' : '-s'} ${flag.replace(/^-+/, '')}`;
      lines.push(`complete -c sagong${condition} ${name}${value} -d ${quoted(description)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

export const completionScript = (shell: Shell, tree: CommandTree): string => ({ bash, zsh, fish })[shell](tree);
