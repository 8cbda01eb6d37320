// Tokens of service accounts that live in Secrets (pkg/controller/serviceaccount).
export { legacyTokenCleaner } from './cleaner.ts';
export { tokensController } from './tokens.ts';
