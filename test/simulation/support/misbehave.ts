// A user who writes what nobody expects, and what can be read afterwards of those who did not expect it.
import { seededRng } from '#utils';
import type { OddWriter } from './odd-objects.ts';
import type { OddWorld } from './odd-world.ts';

/** Writes, with little pauses. */
export async function misbehave(
  world: OddWorld,
  writer: OddWriter,
  seed: number,
  writes: number,
): Promise<Record<string, number>> {
  const rng = seededRng(seed * 7919);
  const told: Record<string, number> = {};
  const acts = ['create', 'create', 'create', 'update', 'status', 'status', 'status', 'annotate', 'remove'] as const;
  for (let count = 0; count < writes; count++) {
    // Once each kind, then any.
    const resource = writer.resources[count < writer.resources.length ? count : rng.int(writer.resources.length)];
    const act = count < writer.resources.length ? 'create' : (acts[rng.int(acts.length)] ?? 'create');
    if (!resource) continue;
    const outcome = await writer[act](resource);
    told[`${act} ${outcome}`] = (told[`${act} ${outcome}`] ?? 0) + 1;
    if (count % 8 === 7) await world.pass(1000);
  }
  return told;
}

/** Objects whose text is a component's: conditions, events, annotations. */
export async function saidByBugs({ cluster }: OddWorld, writer: OddWriter): Promise<string[]> {
  const found: string[] = [];
  for (const resource of writer.resources)
    for (const object of (await cluster.client.resource(resource).list()).items) {
      const text = JSON.stringify(object);
      if (/Cannot read propert|is not iterable|is not a function|Invalid time value|Cannot convert/.test(text)) found.push(text);
    }
  return found;
}

/** What components threw, wherever it was caught. */
export const failuresOf = ({ cluster }: OddWorld): string[] =>
  cluster.failures.map(({ component, where, text }) => `${component} ${where} ${text}`);
