// Questions about identity: TokenReview and SelfSubjectReview (pkg/registry/authentication).
import type { TokenReview } from '#api/authentication/v1';
import { badRequest } from '#apimachinery/errors';
import { asKind, formatTime, type KubeObject } from '#apimachinery/meta';
import type { Authentication } from '../../authentication/index.ts';
import type { UserInfo } from '../../request/request.ts';
import type { SpecialContext, SpecialRest } from '../special.ts';

const group = 'authentication.k8s.io';

const userStatus = ({ name, uid, groups, extra }: UserInfo) => ({
  ...(name !== '' && { username: name }),
  ...(uid && { uid }),
  ...(groups.length > 0 && { groups }),
  ...(extra && Object.keys(extra).length > 0 && { extra }),
});

const review = (kind: string, ask: (context: SpecialContext) => Promise<KubeObject>): SpecialRest => ({
  group,
  version: 'v1',
  resource: `${kind.toLowerCase()}s`,
  subresource: '',
  namespaced: false,
  methods: ['POST'],
  kind: { group, version: 'v1', kind },
  handle: async (context) => ({ status: 201, object: await ask(context) }),
});

/** The two endpoints. `now` in Unix milliseconds. */
export function identityReviewEndpoints(
  authentication: Authentication,
  apiAudiences: readonly string[],
  now: () => number,
): SpecialRest[] {
  return [
    review('TokenReview', async (context) => {
      const object = asKind<TokenReview>(context.object);
      if (!object.spec?.token) throw badRequest('token is required for TokenReview in authentication');
      await context.validate();
      const asked = object.spec.audiences?.length ? object.spec.audiences : apiAudiences;
      const { answer, error } = await authentication.reviewToken(object.spec.token, asked);
      const audiences = answer?.audiences;
      const status = {
        ...(answer && { authenticated: true }),
        user: answer ? userStatus(answer.user) : {},
        ...(audiences && audiences.length > 0 && { audiences: [...audiences] }),
        ...(error && { error }),
      };
      return { ...object, status } as KubeObject;
    }),
    review('SelfSubjectReview', async (context) => {
      await context.validate();
      const metadata = { creationTimestamp: formatTime(now()) };
      return {
        kind: 'SelfSubjectReview',
        apiVersion: `${group}/v1`,
        metadata,
        status: { userInfo: userStatus(context.request.user) },
      } as KubeObject;
    }),
  ];
}
