// The local server of OCI's APIs, used by OCI's own Python SDK: so that it is not a mirror image of our provider.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { noRates, seededRng } from 'sagong/cloud-provider/test-server';
import { expect, it } from 'vitest';
import { systemClock } from '#host';
import { leftoversOf } from '../../providers/oci/test-server/conformance-world.ts';
import { balancerList, balancerSubnet, compartment, startTestServer, vcn } from '../../providers/oci/test-server/index.ts';
import { pythonWith } from './python.ts';

const version = '2.189.0';
const run = promisify(execFile);

const python = await pythonWith(`oci==${version}`);
const script = fileURLToPath(new URL('oci-python.py', import.meta.url));

it.skipIf(!python)(
  'OCI’s Python SDK works on the local server (skipped without python3 and PyPI)',
  { timeout: 120_000 },
  async () => {
    const server = await startTestServer({ clock: systemClock(), rng: seededRng(1) });
    const { account, user, faults } = server;
    const folder = await mkdtemp(join(tmpdir(), 'sagong-oci-key-'));
    faults.rates = { ...noRates, operationMs: 300 };
    for (let number = 0; number < 30; number++) account.addInstance(`node-${number}`);
    try {
      const keyFile = join(folder, 'key.pem');
      await writeFile(keyFile, user.key, { mode: 0o600 });
      const who = [user.user, user.tenancy, user.fingerprint];
      const where = [compartment, vcn, balancerSubnet, balancerList];
      const { stdout } = await run(python as string, [script, server.url, keyFile, ...who, ...where]);
      expect(JSON.parse(stdout)).toEqual({
        paged: 30,
        node: ['RUNNING', 'VM.Standard.E4.Flex', 'Uocm:PHX-AD-1', 'FAULT-DOMAIN-2'],
        vnic: [true, 'node-7'],
        absent: [404, 'NotAuthorizedOrNotFound'],
        stranger: [401, 'NotAuthenticated'],
        rule: ['198.51.100.0/24', 80],
        'old etag': [412, 'NoEtagMatch'],
        'group rules': [1, 1],
        once: true,
        balancer: ['ACTIVE', 20, true],
        'group in use': [409, 'IncorrectState'],
        'port taken': [400, 'InvalidParameter'],
        busy: [409, 'IncorrectState'],
        listener: 'SUCCEEDED',
        listeners: ['TCP-443', 'TCP-80'],
        'used token': [409, 'InvalidatedRetryToken'],
        'nlb work': 'SUCCEEDED',
        nlb: ['ACTIVE'],
        'nlb addresses': [false, true],
      });
      expect(leftoversOf(server)).toEqual([]);
    } finally {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
