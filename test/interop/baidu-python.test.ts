// The local server of Baidu AI Cloud's APIs, used by the vendor's own Python SDK: so that it is not a mirror image of our provider. Its requests are
// signed by the SDK, too.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { seededRng } from 'sagong/cloud-provider/test-server';
import { expect, it } from 'vitest';
import { systemClock } from '#host';
import { leftoversOf } from '../../providers/baidu/test-server/conformance-world.ts';
import { startTestServer, vpc } from '../../providers/baidu/test-server/index.ts';
import { pythonWith } from './python.ts';

const version = '0.9.79';
const run = promisify(execFile);

const python = await pythonWith(`bce-python-sdk==${version}`);
const script = fileURLToPath(new URL('baidu-python.py', import.meta.url));

it.skipIf(!python)('Baidu’s Python SDK works on the local server (skipped without python3 and PyPI)', async () => {
  const server = await startTestServer({ clock: systemClock(), rng: seededRng(1) });
  for (let number = 0; number < 5; number++) server.account.addInstance(`node-${number}`);
  const [{ accessKeyId, secretAccessKey }] = server.credentials;
  try {
    const { stdout } = await run(python as string, [script, server.url, accessKeyId, secretAccessKey, vpc, 'sbn-nodes']);
    expect(JSON.parse(stdout)).toEqual({
      unauthorized: [400, 'SignatureDoesNotMatch'],
      subnet: 'BCC',
      paged: [true, 2, 3],
      instance: 'Running',
      absent: [404, 'NoSuchObject'],
      token: true,
      mismatch: [403, 'IdempotentParameterMismatch'],
      balancer: [1, 'available', 'from python'],
      taken: [409, 'ResourceAlreadyExist'],
      listener: [80, 30_090, 'RoundRobin', 5, 3],
      listeners: ['TCP', 'UDP'],
      backends: [[true, 50]],
      detail: ['web/front', 'changed', ['53', '80']],
      eip: ['binded', 20, true],
      'bound twice': [409, 'ResourceStatusError'],
      public: true,
      group: [true],
      'group in use': [409, 'ResourceStatusError'],
      'rule twice': [409, 'ResourceAlreadyExist'],
      rules: ['10.244.1.0/24'],
      left: [80],
      deleted: [404, 'NoSuchObject'],
    });
    expect(leftoversOf(server)).toEqual([]);
  } finally {
    await server.close();
  }
});
