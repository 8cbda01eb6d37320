// The loops over certificate signing requests (pkg/controller/certificates).
export { csrApprovingController } from './approver.ts';
export { csrCleanerController } from './cleaner.ts';
export { csrSigningController } from './signer.ts';
