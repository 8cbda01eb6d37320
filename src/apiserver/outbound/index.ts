export { readWebhookServer, type WebhookServer } from './kubeconfig.ts';
export { createReviewClient, type Review, type ReviewClient, type ReviewDeps, ReviewError } from './review-client.ts';
