// `--protect-kernel-defaults`: settings of the machine's kernel that the kubelet relies on (upstream pkg/kubelet/cm setupKernelTunables). They are
// only looked at: nodes share the machine with others, so nothing of its kernel is changed here.
import { readFile } from 'node:fs/promises';

const wanted: readonly [name: string, value: number][] = [
  ['vm/overcommit_memory', 1],
  ['vm/panic_on_oom', 0],
  ['kernel/panic', 10],
  ['kernel/panic_on_oops', 1],
  ['kernel/keys/root_maxkeys', 1_000_000],
  ['kernel/keys/root_maxbytes', 25_000_000],
];

/** Rejects with a message that names every setting that is another one. */
export async function checkKernelSettings(directory = '/proc/sys'): Promise<void> {
  const problems: string[] = [];
  for (const [name, value] of wanted) {
    const text = await readFile(`${directory}/${name}`, 'utf8').catch((error: Error) => error);
    if (text instanceof Error) problems.push(text.message);
    else if (Number(text.trim()) !== value)
      problems.push(`invalid kernel flag: ${name}, expected value: ${value}, actual value: ${text.trim()}`);
  }
  if (problems.length === 0) return;
  const list = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
  throw new Error(`Failed to start ContainerManager: ${list}`);
}
