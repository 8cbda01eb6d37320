// `sagong list`, `sagong node shell`, `sagong completion` and `sagong man`.
import { readFile } from 'node:fs/promises';
import { dataDirOf, listClusters, listedText, nodeShell } from '#cluster';
import type { Command, FlagTable } from '#component-base';
import { systemClock } from '#host';
import { type CommandTree, completionScript, type Shell, shells } from '../completion.ts';
import { manPage } from '../man.ts';
import { packageFile } from '../process/program.ts';
import { say } from '../process/say.ts';

export async function runList({ quiet = false }: { quiet?: boolean }): Promise<void> {
  const clusters = await listClusters();
  const text = quiet ? clusters.map(({ name }) => name).join('\n') : listedText(clusters);
  if (clusters.length > 0 || !quiet) say(text);
}

export async function runNodeShell(
  node: string,
  command: readonly string[],
  flags: { name: string; dataDir?: string },
): Promise<void> {
  process.exitCode = await nodeShell(dataDirOf(flags.name, flags.dataDir), node, command, systemClock());
}

const optionsOf = (flags: FlagTable): CommandTree['options'] =>
  Object.values(flags)
    .filter(({ hidden, deprecated }) => !hidden && deprecated === undefined)
    .map(({ name, help, type: { choices } }) => ({
      flag: `--${name}`,
      description: help,
      ...(choices && { values: choices.filter((choice) => choice !== '') }),
    }));

/** The commands as completion knows them; components are loaded for their flags. */
export async function treeOf(given: Command): Promise<CommandTree> {
  const command = (await given.load?.()) ?? given;
  const shown = (command.commands ?? []).filter(({ hidden }) => !hidden);
  return {
    name: command.name,
    description: given.description,
    options: optionsOf(command.flags ?? {}),
    commands: await Promise.all(shown.map(treeOf)),
  };
}

export async function runCompletion(shell: string, program: Command): Promise<void> {
  if (!shells.includes(shell as Shell))
    throw new Error(`completion is there for ${shells.join(', ')}, not for ${JSON.stringify(shell)}`);
  process.stdout.write(completionScript(shell as Shell, await treeOf(program)));
}

export async function runMan(program: Command): Promise<void> {
  const { version } = JSON.parse(await readFile(packageFile('package.json'), 'utf8')) as { version: string };
  process.stdout.write(manPage(program, version));
}
