import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { findProgram } from './capabilities.ts';
import { serviceUnit } from './service-unit.ts';

const unit = serviceUnit({
  name: 'sagong-app',
  description: 'Sagong cluster "app" (100%)',
  command: [process.execPath, '/opt/a b/sagong.mjs', 'up', '--data-dir', '/data/$x%"'],
  home: '/root',
});

it('starts at boot, is started again when it fails, and quotes what systemd would read otherwise', () => {
  expect(unit.name).toBe('sagong-app.service');
  expect(unit.text).toContain(`ExecStart=${process.execPath} "/opt/a b/sagong.mjs" up --data-dir "/data/$$x%%\\""\n`);
  expect(unit.text).toContain('Description=Sagong cluster "app" (100%%)\n');
  for (const line of ['Restart=on-failure', 'KillMode=mixed', 'WantedBy=multi-user.target'])
    expect(unit.text).toContain(`${line}\n`);
});

it.skipIf(!findProgram('systemd-analyze'))('is found good by systemd', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'sagong-unit-'));
  try {
    const path = join(dir, unit.name);
    await writeFile(path, unit.text);
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', path]);
    expect(stderr.split('\n').filter((line) => line.includes(unit.name))).toEqual([]);
  } finally {
    await rm(dir, { recursive: true });
  }
});
