// Credentials of the role in `RoleARN`, renewed by the SDK before they end. `SourceARN` guards against confused deputies (IAM User Guide, "The
// confused deputy problem"): it goes along as two headers.
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { endpointOf } from './config/overrides.ts';
import type { AwsConfig } from './config/schema.ts';

export interface RoleCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration?: Date;
}

const sessionName = 'sagong-cloud-provider-aws';

/** Headers that say on whose behalf the role is assumed. Throws for what is no ARN. */
export function sourceHeaders(sourceArn: string): Record<string, string> {
  const account = /^arn:[^:]+:[^:]*:[^:]*:(\d{12}):/.exec(sourceArn)?.[1];
  if (account === undefined) throw new Error(`Global.SourceARN: not an ARN with an account: ${sourceArn}`);
  return { 'x-amz-source-arn': sourceArn, 'x-amz-source-account': account };
}

/**
 * Makes the credentials of the configured role; undefined where there is none, and the SDK finds credentials itself (environment, profile,
 * instance role).
 */
export function assumedRole(config: AwsConfig, region: string): (() => Promise<RoleCredentials>) | undefined {
  const { RoleARN, SourceARN } = config.Global;
  if (RoleARN === undefined) return undefined;
  const sts = new STSClient({ region, ...endpointOf(config, 'STS', region) });
  if (SourceARN !== undefined) {
    const headers = sourceHeaders(SourceARN);
    sts.middlewareStack.add(
      (next) => (args) => {
        Object.assign((args.request as { headers: Record<string, string> }).headers, headers);
        return next(args);
      },
      { step: 'build', name: 'sourceHeaders' },
    );
  }
  return async () => {
    const { Credentials } = await sts.send(new AssumeRoleCommand({ RoleArn: RoleARN, RoleSessionName: sessionName }));
    if (!Credentials?.AccessKeyId || !Credentials.SecretAccessKey || !Credentials.SessionToken)
      throw new Error(`role ${RoleARN} was assumed without credentials`);
    return {
      accessKeyId: Credentials.AccessKeyId,
      secretAccessKey: Credentials.SecretAccessKey,
      sessionToken: Credentials.SessionToken,
      ...(Credentials.Expiration && { expiration: Credentials.Expiration }),
    };
  };
}
