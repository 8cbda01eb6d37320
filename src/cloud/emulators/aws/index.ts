// Amazon Web Services in front of the local cloud: EC2, both versions of Elastic Load Balancing, and who one is (STS), over the query protocol
// with Signature Version 4.
import type {
  EmulatedAnswer,
  EmulatedNetwork,
  EmulatedRequest,
  Emulator,
  EmulatorContext,
  EmulatorDefinition,
  ManagerSetup,
} from '../emulator.ts';
import { accountId, type Account, type Actions } from './account.ts';
import { ec2Actions } from './ec2/index.ts';
import { elbActions } from './elb/index.ts';
import { elbv2Actions } from './elbv2/index.ts';
import { AwsError, awsErrorOf, type Service } from './errors.ts';
import { FactStore } from './facts.ts';
import { accessKeyAt, writeManagerFiles } from './manager-files.ts';
import { versionWithinChars } from './limits.ts';
import { openNames } from './names.ts';
import { Parameters } from './parameters.ts';
import { type AccessKey, verifySignature } from './signature.ts';
import { errorXml, resultXml } from './xml.ts';

const stsActions: Actions = {
  GetCallerIdentity: () => Promise.resolve({ Arn: `arn:aws:iam::${accountId}:root`, UserId: accountId, Account: accountId }),
};

/** Services by the version that a request names: all of them are at one address. */
const services: Readonly<Record<string, { service: Service; signedFor: string; actions: Actions }>> = {
  '2016-11-15': { service: 'ec2', signedFor: 'ec2', actions: ec2Actions },
  '2012-06-01': { service: 'elb', signedFor: 'elasticloadbalancing', actions: elbActions },
  '2015-12-01': { service: 'elbv2', signedFor: 'elasticloadbalancing', actions: elbv2Actions },
  '2011-06-15': { service: 'sts', signedFor: 'sts', actions: stsActions },
};

/** The version in whose form a request is answered, also when it is refused. */
const versionIn = (query: string): string =>
  /(?:^|&)Version=([\d-]{10})(?:&|$)/.exec(query.slice(0, versionWithinChars))?.[1] ?? '';

class Aws implements Emulator {
  readonly #account: Account;
  readonly #key: AccessKey;
  readonly #context: EmulatorContext;

  constructor(account: Account, key: AccessKey, context: EmulatorContext) {
    this.#account = account;
    this.#key = key;
    this.#context = context;
  }
  async answer(request: EmulatedRequest): Promise<EmulatedAnswer> {
    const requestId = this.#context.rng.uuid();
    const sent = (status: number, body: string): EmulatedAnswer => ({
      status,
      headers: { 'content-type': 'text/xml;charset=UTF-8', 'x-amzn-requestid': requestId },
      body,
    });
    let service: Service = 'ec2';
    let action = '';
    try {
      const query = request.method === 'POST' ? request.body.toString('utf8') : (request.path.split('?')[1] ?? '');
      const version = versionIn(query);
      const found = services[version];
      service = found?.service ?? 'ec2';
      // The request is read no further where its signature was not made with the key.
      const signedFor = verifySignature(request, this.#key, this.#context.region, this.#context.clock.now());
      if (!found) throw new AwsError('NoSuchVersion', `There is no API of the version '${version}' here`);
      if (signedFor !== found.signedFor)
        throw new AwsError('SignatureDoesNotMatch', `Credential should be scoped to correct service: '${found.signedFor}'.`, 403);
      const parameters = Parameters.parse(query);
      action = parameters.get('Action') ?? '';
      const perform = Object.hasOwn(found.actions, action) ? found.actions[action] : undefined;
      if (!perform) throw new AwsError('InvalidAction', `The action ${action} is not valid for this web service.`);
      return sent(200, resultXml(service, action, await perform(this.#account, parameters), requestId));
    } catch (error) {
      const refusal = awsErrorOf(service, error);
      if (refusal !== error) this.#context.logger.warn('call failed', { service, action, requestId, error });
      return sent(refusal.status, errorXml(service, refusal, requestId));
    }
  }
  setUpManager(network: EmulatedNetwork, url: string): Promise<ManagerSetup> {
    return writeManagerFiles(this.#context.dir, network, { url, region: this.#context.region });
  }
}

export const awsEmulator: EmulatorDefinition = {
  nodeNames: 'private-dns-name',
  tagsOf: (cluster) => ({ [`kubernetes.io/cluster/${cluster}`]: 'owned' }),
  async open(context) {
    const { cloud, region, dir, clock, rng } = context;
    const [facts, key, names] = await Promise.all([FactStore.open(dir), accessKeyAt(dir), openNames(cloud, region)]);
    return new Aws({ cloud, facts, region, clock, rng, names }, key, context);
  },
};
