import { expect, it } from 'vitest';
import { NoSpaceError } from '#store';
import { startFailure } from './start-failure.ts';

const noSpace = new Error('ENOSPC: no space left on the disk of /data');

it('says that the disk is full, and not what etcd says then', () => {
  expect(startFailure(new NoSpaceError({ cause: noSpace }))).toMatchObject({
    message: 'the data of the cluster finds no room: ENOSPC: no space left on the disk of /data',
  });
});
it('leaves alone what says enough', () => {
  const denied = Object.assign(new Error("EACCES: permission denied, open '/data/store'"), { code: 'EACCES' });
  expect(startFailure(denied)).toBe(denied);
});
