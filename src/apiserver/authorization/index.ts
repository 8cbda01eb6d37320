// May they (https://kubernetes.io/docs/reference/access-authn-authz/authorization/).
export { forbiddenError } from './messages.ts';
export { createNodeAuthorizer } from './node.ts';
export { RbacAuthorizer } from './rbac.ts';
export { mastersAuthorizer, unionAuthorizer } from './union.ts';
export { asksToImpersonate, createImpersonation, type Impersonation } from './impersonation.ts';
export {
  type AuthorizerConfiguration,
  authorizersOfModes,
  authorizerTypes,
  parseAuthorizationConfiguration,
} from './structured/configuration.ts';
export { createWebhookAuthorizer, readAccessServer } from './structured/webhook.ts';
