// A page as somebody reads it who types its commands: blocks of a shell by section, with the machines that they are for.

export interface Block {
  section: string;
  /** Names of machines; empty: the page says why nobody types it here. */
  machines: string[];
  commands: string[];
}

const reason = /^not typed by the test: \S.{10,}/;

/** Throws for a block without a machine and without a reason. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let section = '';
  for (const [, heading, info = '', body = ''] of page.matchAll(/^#+ (.*)$|^```(.*)\n([^]*?)^```$/gm)) {
    if (heading !== undefined) section = heading;
    else if (info === '' || /^sh\b/.test(info))
      blocks.push({ section, machines: machinesOf(info, body), commands: commandsIn(body) });
  }
  return blocks;
}

function machinesOf(info: string, body: string): string[] {
  const words = info.replace(/^sh\b ?/, '');
  if (reason.test(words)) return [];
  const machines = words.split(' ');
  if (!machines.every((name) => ['first', 'near', 'far', 'computer'].includes(name)))
    throw new Error(`a block says neither where it is typed nor why not: ${JSON.stringify(info)}\n${body}`);
  return machines;
}

/** One a line, unless a line goes on with a backslash. */
const commandsIn = (body: string): string[] =>
  body
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');

/** What the cluster has printed, in place of the page's examples. */
export class Printed {
  #join: string[] = [];
  #certificateKey = '';

  read(stdout: string): void {
    const join = stdout.split('\n').find((line) => line.startsWith('sagong join '));
    if (join !== undefined) this.#join = join.trim().split(' ');
    this.#certificateKey = /^[0-9a-f]{64}$/m.exec(stdout)?.[0] ?? this.#certificateKey;
  }
  /** Throws where the page's command and the printed one are not the same but for examples and `--detach`. */
  put(command: string): string {
    if (!/--token |--certificate-key /.test(command)) return command;
    const words = command.split(' ');
    if (!command.startsWith('sagong join ')) return this.#filled(words).join(' ');
    const plain = words.filter((word) => word !== '--detach');
    const shape = (all: readonly string[]): string => all.filter((_, index) => !all[index - 1]?.startsWith('--')).join(' ');
    if (shape(plain) !== shape(this.#join.filter((word) => word !== '')))
      throw new Error(`printed was:\n${this.#join.join(' ')}\nand the page says:\n${command}`);
    return [...this.#join, '--detach'].join(' ');
  }

  #filled(words: readonly string[]): string[] {
    return words.map((word, index) => (words[index - 1] === '--certificate-key' ? this.#certificateKey : word));
  }
}
