import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { type CommandTree, completionScript } from './completion.ts';

const leaf = (name: string, ...flags: string[]): CommandTree => ({
  name,
  description: `what ${name} is for: it's good`,
  options: flags.map((flag) => ({ flag, description: 'a flag' })),
  commands: [],
});
const tree: CommandTree = {
  ...leaf('sagong', '--help'),
  commands: [
    {
      ...leaf('up', '--nodes', '--name'),
      options: [
        ...leaf('up', '--nodes', '--name').options,
        { flag: '--cni', description: 'the network', values: ['bridge', 'none'] },
      ],
    },
    { ...leaf('node'), commands: [leaf('list', '--name'), leaf('add', '--type')] },
  ],
};

/** What bash offers when the key is pressed behind the last word. */
function offered(...line: string[]): string[] {
  const script = `${completionScript('bash', tree)}
    COMP_WORDS=(sagong "$@"); COMP_CWORD=$#; _sagong; echo "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script, 'test', ...line], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .filter(Boolean);
}

it('offers in bash what can come next, and only that', () => {
  expect(offered('')).toEqual(['up', 'node', '--help']);
  expect(offered('n')).toEqual(['node']);
  expect(offered('node', '')).toEqual(['list', 'add']);
  expect(offered('node', 'add', '--')).toEqual(['--type']);
  expect(offered('up', '--nodes', '3', '--na')).toEqual(['--name']);
  expect(offered('nothing', 'x')).toEqual([]);
  expect(offered('up', '--cni', '')).toEqual(['bridge', 'none']);
  expect(offered('up', '--cni', 'b')).toEqual(['bridge']);
  expect(offered('up', '--cni', 'bridge', '--no')).toEqual(['--nodes']);
});

it('tells zsh and fish the same', () => {
  const zsh = completionScript('zsh', tree);
  expect(zsh.startsWith('#compdef sagong\n')).toBe(true);
  expect(zsh).toContain("'node:add') place='node add' ;;");
  expect(zsh).toContain("'up:--cni') known='bridge none' ;;");
  const fish = completionScript('fish', tree);
  expect(fish).toContain("-l cni -x -a 'bridge none' -d 'the network'");
  expect(fish).toContain(
    String.raw`complete -c sagong -f -n 'not __fish_seen_subcommand_from up node' -a up -d 'what up is for: it'\''s good'`,
  );
  expect(fish).toContain("complete -c sagong -n '__fish_seen_subcommand_from node; and __fish_seen_subcommand_from add' -l type");
});
