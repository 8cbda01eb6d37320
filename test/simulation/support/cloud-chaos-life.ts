// A run of chaos: Services and Nodes come, change and go while much fails; then nothing fails, until cluster and cloud agree.
import { expect } from 'vitest';
import { act, type ChaosSize, createService } from './cloud-chaos-actions.ts';
import { differences } from './cloud-chaos-checks.ts';
import type { CloudChaos } from './cloud-chaos.ts';

export type { ChaosSize } from './cloud-chaos-actions.ts';

export const fullSize: ChaosSize = { services: 200, nodes: 20 };
export const hoursMs = 10 * 3_600_000;
const replicas = 3;
const pauseMaxMs = 80_000;
const settleMaxMs = 1_800_000;

/** What somebody else did meanwhile is part of the game. */
const isRace = (error: unknown): boolean => /already exists|not found|modified/.test(String(error));

/** All that happens with faults. Things of others in the same cloud must live through it. */
export async function live(chaos: CloudChaos, size: ChaosSize, chaosMs: number): Promise<CloudChaos> {
  await chaos.open(replicas);
  const others = chaos.cloud.addThingsOfOthers();
  for (let count = 0; count < size.nodes / 2; count++) chaos.buy(`node-${count}`);
  await chaos.clock.advance(60_000);
  chaos.startFaults();
  const endMs = chaos.clock.now() + chaosMs;
  while ((await chaos.services()).length < size.services * 0.9) await createService(chaos, size).catch(expectRace);
  while (chaos.clock.now() < endMs) {
    await act(chaos, size).catch(expectRace);
    await chaos.clock.advance(chaos.rng.int(pauseMaxMs));
  }
  chaos.stopFaults();
  expect(others.remove(), 'what belongs to others').toEqual(others.before);
  return chaos;
}

function expectRace(error: unknown): void {
  if (!isRace(error)) throw error;
}

/** Time without faults until nothing differs any more; what still does after half an hour. */
export async function settle(chaos: CloudChaos): Promise<string[]> {
  const limitMs = chaos.clock.now() + settleMaxMs;
  let different: string[];
  do {
    await chaos.clock.advance(30_000);
    different = await differences(chaos);
  } while (different.length > 0 && chaos.clock.now() < limitMs);
  return different;
}
