import { expect, it } from 'vitest';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { join } from './join.ts';

it('refuses a folder whose path is too long for the sockets in it before it asks anybody', async () => {
  const options = { dir: `/${'d'.repeat(90)}`, endpoint: '192.0.2.1:6443', token: 'abcdef.0123456789abcdef', program: [] };
  const joining = join(options, { clock: systemClock(), rng: systemRng(), logger: silentLogger });
  await expect(joining).rejects.toThrow('17 bytes too long for the sockets in it; choose a shorter directory with --data-dir');
});
