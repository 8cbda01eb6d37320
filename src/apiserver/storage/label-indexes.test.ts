import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from '#apimachinery/labels';
import { indexedCandidatesMax, labelIndexesMax, labelIndexObjectsMin } from '../limits.ts';
import { LabelIndexes } from './label-indexes.ts';
import { SortedEntries } from './sorted-entries.ts';
import { StoredObject } from './stored-object.ts';

const named = (name: string, labels: Record<string, string>): StoredObject =>
  new StoredObject({ key: `/p/${name}`, namespace: '', name, revision: 1 }, { metadata: { name, labels } });
const numbered = (at: number): string => String(at).padStart(5, '0');

let entries: SortedEntries<StoredObject>;
let indexes: LabelIndexes;
const store = (object: StoredObject): void => {
  const before = entries.get(object.key);
  entries.set(object.key, object);
  indexes.change(before, object);
};
const remove = (name: string): void => {
  const before = entries.get(`/p/${name}`);
  entries.delete(`/p/${name}`);
  indexes.change(before, undefined);
};
const now = (): undefined => undefined;
const find = (selector: string, rest: () => Promise<void> | undefined = now): StoredObject[] | undefined =>
  indexes.find(parse(selector).requirements, rest);
const scanned = (selector: string): StoredObject[] =>
  entries.values('/p/').filter(({ object }) => parse(selector).matches(object.metadata.labels));
/** What the second question is answered. */
function indexed(selector: string): StoredObject[] | undefined {
  find(selector);
  return find(selector);
}

beforeEach(() => {
  entries = new SortedEntries();
  indexes = new LabelIndexes(entries);
  for (let at = 0; at < labelIndexObjectsMin + 50; at++) store(named(numbered(at), { app: `app-${at % 50}`, all: 'yes' }));
});

describe('a label', () => {
  it('is indexed when it is asked for again', async () => {
    let goOn = (): void => {};
    const wait = (): Promise<void> => new Promise((resolve) => (goOn = resolve));
    expect(find('app=app-7', wait)).toBeUndefined();
    expect(find('app=app-7', wait)).toBeUndefined();
    for (let at = 0; at < labelIndexObjectsMin; at++) {
      goOn();
      await Promise.resolve();
    }
    expect(find('app=app-7')).toEqual(scanned('app=app-7'));
    expect(find('app in (app-9,app-1,app-0)')).toEqual(scanned('app in (app-9,app-1,app-0)'));
    expect(find('app=other')).toEqual([]);
    expect(find('app==app-3,all=yes')).toEqual(scanned('app=app-3'));
  });

  it('follows what changes', () => {
    indexed('app=app-7');
    store(named('00007', { app: 'other' }));
    store(named('00008', {}));
    store(named('00000a', { app: 'app-7' }));
    remove('00057');
    for (const selector of ['app=app-7', 'app=app-8', 'app=other']) expect(find(selector)).toEqual(scanned(selector));
    indexes.clear();
    expect(find('app=app-7')).toBeUndefined();
  });

  it.each(['app!=app-7', 'app notin (app-7)', 'app', '!app'])('is no way to what meets %s', (selector) => {
    expect(indexed(selector)).toBeUndefined();
  });

  it('is no way to most of many objects', () => {
    for (let at = 0; at < indexedCandidatesMax; at++) store(named(`m${numbered(at)}`, { most: at === 0 ? 'no' : 'yes' }));
    indexed('most=yes');
    expect(find('most=yes')).toHaveLength(indexedCandidatesMax - 1);
    store(named('n', { most: 'yes' }));
    expect(find('most=yes')).toHaveLength(indexedCandidatesMax);
    store(named('o', { most: 'yes' }));
    expect(find('most=yes')).toBeUndefined();
    expect(find('most in (no,yes)')).toBeUndefined();
    expect(find('most=no')).toHaveLength(1);
  });

  it('is not indexed where there are few objects', () => {
    for (let at = 0; at < 50; at++) remove(numbered(at));
    expect(indexed('app=app-7')).toEqual(scanned('app=app-7'));
    remove('00050');
    expect(find('app=app-7')).toBeUndefined();
  });

  it('that was not asked for the longest makes room for another', () => {
    const labels = Array.from({ length: labelIndexesMax }, (_, at) => `l${at}`);
    for (const label of labels) expect(indexed(`${label}=a`)).toEqual([]);
    expect(find('l0=a')).toEqual([]);
    find('app=app-1');
    expect(find('l0=a')).toEqual([]);
    expect(find('l1=a')).toBeUndefined();
  });
});

it('a selector of many labels is looked up in the best of a few indexes', () => {
  indexed('all=yes');
  indexed('app=app-7');
  expect(find('all=yes,app=app-7')).toEqual(scanned('app=app-7'));
  const many = Array.from({ length: 2 * labelIndexesMax }, (_, at) => `x${at}=1`).join(',');
  expect(find(many)).toBeUndefined();
});

it('an index that is dropped while it is made stays dropped', async () => {
  let goOn = (): void => {};
  const wait = (): Promise<void> => new Promise((resolve) => (goOn = resolve));
  find('app=app-7', wait);
  find('app=app-7', wait);
  indexes.clear();
  goOn();
  await Promise.resolve();
  expect(find('app=app-7')).toBeUndefined();
});

it('finds what all objects would be asked for, whatever changes while an index is made', async () => {
  const name = fc.nat({ max: 40 }).map((at) => numbered(at * 13));
  const value = fc.constantFrom('a', 'b', 'c', undefined);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value, fc.boolean()), { maxLength: 60 }), async (changes) => {
      indexes.clear();
      const left = [...changes];
      // Each pause of the work on the index sees another change.
      const change = async (): Promise<void> => {
        const [at, label, gone] = left.shift() ?? [];
        if (at === undefined) return;
        if (gone) remove(at);
        else store(named(at, label === undefined ? {} : { x: label }));
      };
      for (let at = 0; at <= 40; at++) store(named(numbered(at * 13), { x: 'a' }));
      find('x=a', change);
      find('x=a', change);
      for (let turn = 0; turn < 1_000; turn++) {
        await Promise.resolve();
        const found = find('x in (a,b)');
        if (found) expect(found).toEqual(scanned('x in (a,b)'));
        if (found && left.length === 0) break;
        if (found) await change();
      }
      for (const selector of ['x=a', 'x=b', 'x=c']) expect(find(selector)).toEqual(scanned(selector));
    }),
    { numRuns: 30 },
  );
});
