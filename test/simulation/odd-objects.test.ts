// Whatever object the API accepts, no component falls over it: every kind with null and empty fields, unknown words, huge and odd texts, numbers and
// times at the edge, through specs and through /status, while the whole cluster runs; and again when all of it starts anew over what was stored.
// A failing run is its seed: SAGONG_SEED=<seed> replays it. SAGONG_SEEDS=<count> runs so many, from that seed on.
import { describe, expect, it } from 'vitest';
import { seededRng } from '#utils';
import { canaryLives } from './support/canary.ts';
import { failuresOf, misbehave, saidByBugs } from './support/misbehave.ts';
import { oddNamespaces, OddWriter } from './support/odd-objects.ts';
import { startOddWorld } from './support/odd-world.ts';

const first = Number(process.env.SAGONG_SEED ?? 1);
const seeds = Array.from({ length: Number(process.env.SAGONG_SEEDS ?? 1) }, (_, index) => first + index);
const writes = Number(process.env.SAGONG_WRITES ?? 400);
const timeout = 600_000;
/** Long enough for every loop to have looked at everything. */
const settleMs = 180_000;
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

describe('whatever the API accepts', () => {
  it.each(seeds)('nobody falls over it, seed %i', { timeout }, async (seed) => {
    let world = await startOddWorld(seed);
    const writer = new OddWriter(world.cluster.client, seededRng(seed));
    try {
      for (const name of oddNamespaces) await world.cluster.client.resource(namespaces).create({ metadata: { name } });
      const told = await misbehave(world, writer, seed, writes);
      if (process.env.SAGONG_STORY) console.log(`seed ${seed}`, told);
      await world.pass(settleMs);
      const dead = await canaryLives(world, 'canary');
      const found = {
        faults: writer.faults,
        complaints: world.complaints,
        failures: failuresOf(world),
        said: await saidByBugs(world, writer),
        dead,
      };
      expect(found, `SAGONG_SEED=${seed}`).toEqual({ faults: [], complaints: [], failures: [], said: [], dead: [] });
      expect(told['create accepted']).toBeGreaterThan(50);
      expect(told['status accepted']).toBeGreaterThan(10);
      const snapshot = world.cluster.snapshot();
      await world.stop();
      world = await startOddWorld(seed, snapshot);
      const deadAgain = await canaryLives(world, 'canary-again');
      const again = { complaints: world.complaints, failures: failuresOf(world), dead: deadAgain };
      expect(again, `SAGONG_SEED=${seed}, started anew`).toEqual({ complaints: [], failures: [], dead: [] });
    } finally {
      await world.stop();
    }
  });
});
