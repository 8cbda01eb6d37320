// The audit log (https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/; audit.k8s.io/v1): what was asked, by whom, and what came of it.
export type { Stage } from './core/policy.ts';
export { type AuditRecord } from './core/record.ts';
export { auditFlags, auditOptionsOf } from './flags.ts';
export { type AuditOptions, loadAuditPolicy, openAudit, readAudit } from './options.ts';
export { type AuditTrail, recordDecision } from './trail.ts';
