// `sagong list`, `sagong node shell` and `sagong completion`.
import type { Command, Option } from 'commander';
import { dataDirOf, listClusters, listedText, nodeShell } from '#cluster';
import { type CommandTree, completionScript, type Shell, shells } from '../completion.ts';

export async function runList({ quiet = false }: { quiet?: boolean }): Promise<void> {
  const clusters = await listClusters();
  const text = quiet ? clusters.map(({ name }) => name).join('\n') : listedText(clusters);
  process.stdout.write(clusters.length === 0 && quiet ? '' : `${text}\n`);
}

export async function runNodeShell(
  node: string,
  command: readonly string[],
  flags: { name: string; dataDir?: string },
): Promise<void> {
  process.exitCode = await nodeShell(dataDirOf(flags.name, flags.dataDir), node, command);
}

/** commander keeps this to itself. */
type Hidden = { _hidden?: boolean };
const isShown = (command: Command): boolean => !(command as unknown as Hidden)._hidden;
const flagOf = ({ long, short }: Option): string => long ?? short ?? '';

export const treeOf = (command: Command): CommandTree => ({
  name: command.name(),
  description: command.description(),
  options: command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => ({ flag: flagOf(option), description: option.description })),
  commands: command.commands.filter(isShown).map(treeOf),
});

export function runCompletion(shell: string, program: Command): void {
  if (!shells.includes(shell as Shell))
    throw new Error(`completion is there for ${shells.join(', ')}, not for ${JSON.stringify(shell)}`);
  process.stdout.write(completionScript(shell as Shell, treeOf(program)));
}
