export { readWebhookServer, type WebhookServer } from './kubeconfig.ts';
export { createReviewClient, type ReviewClient, type ReviewDeps, ReviewError } from './review-client.ts';
