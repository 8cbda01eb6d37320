import { describe, expect, it } from 'vitest';
import { pages } from './clients.ts';

interface Page {
  items?: number[];
  next?: string;
}
const read = (ask: (token: string | undefined) => Page, pagesMax = 10): Promise<number[]> =>
  pages(
    (token) => Promise.resolve(ask(token)),
    ({ items }) => items,
    ({ next }) => next,
    pagesMax,
  );

describe('a list', () => {
  it('is read over all its pages, empty ones among them', async () => {
    const asked: (string | undefined)[] = [];
    const answers: Page[] = [{ items: [1, 2], next: 'b' }, { next: 'c' }, { items: [3], next: '' }];
    const found = await read((token) => {
      asked.push(token);
      return answers[asked.length - 1] ?? {};
    });
    expect(found).toEqual([1, 2, 3]);
    expect(asked).toEqual([undefined, 'b', 'c']);
  });
  it('without an end is refused', async () => {
    await expect(read(() => ({ next: 'more' }))).rejects.toThrow('AWS gives more than 10 pages');
    const full = Array.from({ length: 60_000 }, (_, index) => index);
    await expect(read(() => ({ items: full, next: 'more' }))).rejects.toThrow('AWS gives more than 100000 items');
  });
});
