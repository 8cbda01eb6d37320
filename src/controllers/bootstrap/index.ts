// Loops about bootstrap tokens.
export { tokenCleaner } from './cleaner.ts';
export { bootstrapSigner } from './signer.ts';
