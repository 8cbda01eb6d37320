// An hour of a cluster whose users, nodes and network behave badly: leaders die or are cut off, nodes lose power, requests fail. On the way no two
// leaders write, no pod runs twice, reads are never older than what was answered, watches skip and repeat nothing; when the trouble ends, the
// cluster is exactly what was asked for.
// A failing run is its seed: SAGONG_SEED=<seed> replays it. SAGONG_SEEDS=<count> runs so many, from that seed on.
import { describe, expect, it } from 'vitest';
import { act } from './support/cluster-chaos-actions.ts';
import { whatIsWrong } from './support/cluster-chaos-checks.ts';
import { ClusterChaos } from './support/cluster-chaos.ts';

const nodes = 8;
const chaosMs = 3_600_000;
const pauseMaxMs = 40_000;
/** Real time; it takes a small part of it where processors are free. */
const timeout = 600_000;
const settleMaxMs = 60 * 60_000;
const first = Number(process.env.SAGONG_SEED ?? 1);
const seeds = Array.from({ length: Number(process.env.SAGONG_SEEDS ?? 1) }, (_, index) => first + index);
/** Without this much of each a run proves little. */
const enough: Readonly<Record<string, number>> = {
  'deployments made': 5,
  'statefulSets made': 2,
  'daemonSets made': 1,
  'jobs made': 2,
  scaled: 10,
  'rolled out': 4,
  'workload deleted': 4,
  'pod deleted': 5,
  'pod bound': 100,
  'namespace made': 2,
  'node lost power': 4,
  'node got power': 4,
  'kube-controller-manager killed': 1,
  'kube-scheduler killed': 1,
  'new leader of kube-controller-manager': 2,
  'new leader of kube-scheduler': 2,
  'watches dropped': 2,
  conflict: 50,
  serverError: 50,
  throttle: 50,
  lostAnswer: 50,
  expiredWatch: 10,
  droppedWatch: 50,
};

/** Names that are taken, objects that went meanwhile and namespaces that are going are part of the game. */
const isRace = (error: unknown): boolean =>
  /already exists|not found|modified|being terminated|being deleted/.test(String(error));

async function run(seed: number, forMs: number): Promise<ClusterChaos> {
  const chaos = new ClusterChaos(seed);
  await chaos.open(nodes);
  chaos.startFaults();
  const endMs = chaos.clock.now() + forMs;
  while (chaos.clock.now() < endMs) {
    await act(chaos).catch((error: unknown) => {
      if (!isRace(error)) throw error;
    });
    await chaos.clock.advance(chaos.rng.int(pauseMaxMs));
    await chaos.twice();
  }
  chaos.stopFaults();
  return chaos;
}

describe('a cluster', () => {
  it.each(seeds)('is what was asked for after chaos, seed %i', { timeout }, async (seed) => {
    const chaos = await run(seed, chaosMs);
    const limitMs = chaos.clock.now() + settleMaxMs;
    let wrong: string[];
    do {
      await chaos.clock.advance(30_000);
      wrong = await whatIsWrong(chaos);
    } while (wrong.length > 0 && chaos.clock.now() < limitMs);
    const story: Record<string, number> = { ...chaos.done, ...chaos.faults.counts };
    if (process.env.SAGONG_STORY) console.log(seed, { ...story, events: chaos.history.length, ...chaos.trace.summary() });
    const history = await chaos.history.check();
    const found = { wrong: wrong.slice(0, 10), complaints: chaos.complaints.slice(0, 10), history: history.slice(0, 10) };
    expect(found, `SAGONG_SEED=${seed}`).toEqual({ wrong: [], complaints: [], history: [] });
    const missing = Object.entries(enough).filter(([what, count]) => (story[what] ?? 0) < count);
    expect(missing.map(([what, count]) => `${what}: ${story[what] ?? 0} of ${count}`)).toEqual([]);
    await chaos.close();
  });
  it('lives the same life again from the same seed', { timeout }, async () => {
    const lives: unknown[] = [];
    for (const seed of [5, 5, 6]) {
      const chaos = await run(seed, 600_000);
      lives.push({ ...chaos.trace.summary(), done: chaos.done, faults: chaos.faults.counts });
      await chaos.close();
    }
    expect(lives[1]).toEqual(lives[0]);
    expect(lives[2]).not.toEqual(lives[0]);
  });
});
