import { expect, test } from 'vitest';
import { Places } from './places.ts';

const never = (): AbortSignal => new AbortController().signal;

test('so many have one at once; others come in their order, and those that were called off do not', async () => {
  const places = new Places(2);
  const [first, second] = [await places.take(never()), await places.take(never())];
  const came: string[] = [];
  const calledOff = new AbortController();
  const wait = (name: string, signal = never()) => places.take(signal).then((leave) => (came.push(name), leave));
  const [third, gone, fourth] = [wait('third'), wait('gone', calledOff.signal), wait('fourth')];
  calledOff.abort(new Error('over'));
  await expect(gone).rejects.toThrow('over');
  expect(came).toEqual([]);
  first();
  (await third)();
  const leaveFourth = await fourth;
  expect(came).toEqual(['third', 'fourth']);
  second();
  leaveFourth();
  for (let count = 0; count < 2; count++) await places.take(never());
  await expect(places.take(AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
});
