import { expect, it } from 'vitest';
import { once } from './once.ts';

it('makes a value for the first who asks, and gives all the same', () => {
  let made = 0;
  const value = once(() => ({ number: ++made }));
  expect(made).toBe(0);
  expect([value(), value()]).toEqual([{ number: 1 }, { number: 1 }]);
  expect(value()).toBe(value());
  const nothing = once(() => void made++);
  nothing();
  nothing();
  expect(made).toBe(2);
});
