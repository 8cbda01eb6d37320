// A small server of Baidu AI Cloud's APIs on loopback, for tests: BLB, EIP, VPC and BCC of one account in one region. Written from the vendor's public
// references (https://cloud.baidu.com/doc/BLB, /EIP, /VPC, /BCC). Codes of refusals that the references do not name are its own.
import type { Clock, Rng } from 'sagong/cloud-provider';
import { type Refusal, startVendorServer, type VendorRequest, type VendorServer } from 'sagong/cloud-provider/test-server';
import type { Credentials } from '../src/api/sign.ts';
import { Account, vpc } from '../src/emulator/account.ts';
import { checkSignature } from '../src/emulator/auth.ts';
import { balancerRoutes } from '../src/emulator/balancers.ts';
import { eipRoutes } from '../src/emulator/eips.ts';
import { groupRoutes } from '../src/emulator/groups.ts';
import { networkRoutes } from '../src/emulator/network.ts';
import { refusalBody } from '../src/emulator/refusals.ts';

export { type Account, region, vpc } from '../src/emulator/account.ts';

export interface TestServerOptions {
  clock: Clock;
  rng: Rng;
}
export interface TestServer extends VendorServer {
  account: Account;
  /** Those that it knows; the first are of the account itself, the second temporary ones. */
  credentials: readonly [Credentials, Credentials];
}

const idOf = ({ number }: VendorRequest): string => `request-${number}`;

/** Starts it with an account that has one VPC with one subnet. */
export async function startTestServer({ clock, rng }: TestServerOptions): Promise<TestServer> {
  const credentials: TestServer['credentials'] = [
    { accessKeyId: 'test-key', secretAccessKey: 'test-secret' },
    { accessKeyId: 'sts-key', secretAccessKey: 'sts-secret', sessionToken: 'sts-token' },
  ];
  const account: Account = new Account(
    () => clock.now(),
    () => server.faults,
  );
  account.addSubnet('cn-bj-a', vpc);
  const server: VendorServer = await startVendorServer({
    clock,
    rng,
    routes: { ...balancerRoutes(account), ...eipRoutes(account), ...networkRoutes(account), ...groupRoutes(account) },
    enter(request) {
      checkSignature(request, credentials, clock.now());
      account.operations.settle();
    },
    refusalAnswer: (refusal: Refusal, request) => ({ body: refusalBody(refusal, idOf(request)) }),
    headers: (request) => ({ 'x-bce-request-id': idOf(request) }),
  });
  return { ...server, account, credentials };
}
