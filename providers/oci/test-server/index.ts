// A small server of OCI's APIs on loopback, for tests: Core Services, Load Balancing and Network Load Balancing of one compartment. Written from the
// vendor's public reference (https://docs.oracle.com/iaas/api/); it checks the signature of every request.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Clock, Rng } from 'sagong/cloud-provider';
import { Refusal, startVendorServer, type VendorServer } from 'sagong/cloud-provider/test-server';
import { Account } from '../src/emulator/account.ts';
import { settleBalancers } from '../src/emulator/balancers.ts';
import { classicRoutes } from '../src/emulator/classic.ts';
import { coreRoutes } from '../src/emulator/core.ts';
import { createIdentity, type Identity } from './identity.ts';
import { networkRoutes } from '../src/emulator/nlb.ts';
import { refusalBody } from '../src/emulator/refusals.ts';
import { checkBody, checkSignature } from '../src/emulator/signature.ts';

export * from '../src/emulator/account.ts';

export interface TestUser {
  tenancy: string;
  user: string;
  fingerprint: string;
  /** PEM. */
  key: string;
}
export interface TestServerOptions {
  clock: Clock;
  rng: Rng;
}
export interface TestServer extends VendorServer {
  account: Account;
  user: TestUser;
  /** How instances and workloads get their session tokens. */
  identity: Identity;
}

/** One for all servers of a process, and shorter than OCI takes: keys and signatures take their time. */
let made: TestUser | undefined;
function testUser(): TestUser {
  made ??= {
    tenancy: 'ocid1.tenancy.oc1..tests',
    user: 'ocid1.user.oc1..tests',
    fingerprint: '8c:bf:17:7b:5f:e0:7d:13:75:11:d6:39:0d:e2:84:74',
    key: generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  };
  return made;
}

/** Starts it with a network, and nothing in it. */
export async function startTestServer({ clock, rng }: TestServerOptions): Promise<TestServer> {
  const user = testUser();
  const keys = new Map<string, KeyObject>([[`${user.tenancy}/${user.user}/${user.fingerprint}`, createPublicKey(user.key)]]);
  const identity = createIdentity(keys);
  const lateFailure = (): Refusal | undefined =>
    server.faults.happens('lateFailure', server.faults.rates.lateFailure)
      ? new Refusal(500, 'INTERNAL_ERROR', 'the work request failed on request')
      : undefined;
  const account: Account = new Account(() => clock.now(), {
    lagMs: () => server?.faults.rates.lagMs ?? 0,
    durationMs: () => server.faults.rates.operationMs,
    failureOf: lateFailure,
  });
  account.addNetwork();
  const server: VendorServer = await startVendorServer({
    clock,
    rng,
    routes: { ...identity.routes, ...coreRoutes(account), ...classicRoutes(account), ...networkRoutes(account) },
    enter(request) {
      if (!identity.isOpen(request)) checkSignature(request, (keyId) => keys.get(keyId), Date.now());
      settleBalancers(account);
    },
    checkBody: (request) => void (identity.isOpen(request) || checkBody(request)),
    refusalAnswer: (refusal) => ({ body: refusalBody(refusal) }),
    headers: ({ number, headers }) => ({ 'opc-request-id': headers['opc-request-id'] ?? `request-${number}` }),
  });
  return { ...server, account, user, identity };
}
