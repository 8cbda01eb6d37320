import { expect, test } from 'vitest';
import { seededRng } from '#utils';
import { BestTree } from './best-tree.ts';

test('follows changes and agrees with looking at everything', () => {
  const rng = seededRng(3);
  const size = 37;
  const scores: (number | undefined)[] = Array.from({ length: size }, () => undefined);
  const tree = new BestTree(size);
  expect(tree.pick(rng)).toBe(-1);
  for (let step = 0; step < 500; step++) {
    const index = rng.int(size);
    scores[index] = rng.int(4) === 0 ? undefined : rng.int(5);
    if (scores[index] === undefined) tree.delete(index);
    else tree.set(index, scores[index]);
    const best = Math.max(...scores.map((score) => score ?? Number.NEGATIVE_INFINITY));
    const picked = tree.pick(rng);
    expect(picked < 0 ? Number.NEGATIVE_INFINITY : scores[picked]).toBe(best);
    const sorted = scores.filter((score) => score !== undefined).sort((a, b) => b - a);
    expect(tree.top(5).map((place) => scores[place])).toEqual(sorted.slice(0, 5));
  }
});

test('picks every one of equal leaves about equally often', () => {
  const rng = seededRng(1);
  const tree = new BestTree(6);
  tree.fill(6, (index) => (index === 2 ? 1 : index === 5 ? undefined : 7));
  const counts = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < 4000; i++) {
    const picked = tree.pick(rng);
    counts[picked] = (counts[picked] ?? 0) + 1;
  }
  expect([counts[2], counts[5]]).toEqual([0, 0]);
  for (const index of [0, 1, 3, 4]) expect(counts[index]).toBeGreaterThan(850);
});
