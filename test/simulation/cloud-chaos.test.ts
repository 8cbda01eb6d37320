// Chaos between a cluster and its cloud: for ten hours Services and Nodes come, change and go while every fifth call to the cloud fails, changes
// stop half way, requests to the apiserver go wrong, and leaders die without a word. When the faults stop, the cloud holds exactly what the
// cluster says, and on the way nothing was done twice, by two, or to what still lives.
// A failing run is its seed: SAGONG_SEED=<seed> replays it. SAGONG_SEEDS=<count> runs so many, from that seed on.
import { describe, expect, it } from 'vitest';
import { CloudChaos } from './support/cloud-chaos.ts';
import { type ChaosSize, fullSize, hoursMs, live, settle } from './support/cloud-chaos-life.ts';

const smallSize: ChaosSize = { services: 20, nodes: 6 };
/** Real time; it takes a small part of it where processors are free. */
const timeout = 600_000;
const first = Number(process.env.SAGONG_SEED ?? 1);
const seeds = Array.from({ length: Number(process.env.SAGONG_SEEDS ?? 1) }, (_, index) => first + index);
/** Without this much of each a run proves little. */
const enough: Readonly<Record<string, number>> = {
  'service created': 200,
  'service deleted': 100,
  'service changed: type': 10,
  'service changed: class': 1,
  'service changed: ports': 10,
  'service changed: policy': 10,
  'service changed: source ranges': 5,
  'service changed: affinity': 10,
  'service changed: annotation': 10,
  'machine bought': 15,
  'machine terminated': 8,
  'machine stopped': 8,
  'machine started': 5,
  'machine got another address': 2,
  'node excluded or not': 5,
  'node deleted by hand': 2,
  'node deleted by the manager': 8,
  killed: 5,
  'killed in the middle of a change': 5,
  'leader cut off': 5,
  'leader restarted': 1,
  'lease lost': 3,
  'new leader': 25,
  'watches dropped': 10,
  conflict: 100,
  serverError: 100,
  throttle: 100,
  lostAnswer: 100,
  expiredWatch: 3,
  droppedWatch: 30,
};

describe('a cluster and its cloud', () => {
  it.each(seeds)('agree after ten hours of chaos, seed %i', { timeout }, async (seed) => {
    const chaos = await live(await CloudChaos.make(seed), fullSize, hoursMs);
    const different = await settle(chaos);
    const { total, failed } = chaos.cloud.calls();
    const story: Record<string, number> = { ...chaos.done, ...chaos.faults.counts };
    if (process.env.SAGONG_STORY) console.log(seed, { ...story, calls: total, failed, ...chaos.trace.summary() });
    const found = { different: different.slice(0, 10), complaints: chaos.complaints.slice(0, 10) };
    expect(found, `SAGONG_SEED=${seed}`).toEqual({ different: [], complaints: [] });
    const missing = Object.entries(enough).filter(([what, count]) => (story[what] ?? 0) < count);
    expect(missing.map(([what, count]) => `${what}: ${story[what] ?? 0} of ${count}`)).toEqual([]);
    expect(chaos.servicesPeak).toBeGreaterThan(180);
    expect(failed / total).toBeGreaterThan(0.2);
    await chaos.close();
  });
  it('live the same life again from the same seed', { timeout }, async () => {
    const lives: unknown[] = [];
    for (const seed of [5, 5, 6]) {
      const chaos = await live(await CloudChaos.make(seed), smallSize, 1_200_000);
      lives.push({ ...chaos.trace.summary(), done: chaos.done, faults: chaos.faults.counts });
      await chaos.close();
    }
    expect(lives[1]).toEqual(lives[0]);
    expect(lives[2]).not.toEqual(lives[0]);
  });
});
