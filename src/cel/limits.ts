// Limits of CEL in Kubernetes (k8s.io/apiserver/pkg/apis/cel, k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel).

/** Nesting of an expression. */
export const depthMax = 250;
/** What one evaluation may cost. */
export const callCostMax = 1_000_000;
/** What all rules of one object, or all expressions of one policy, may cost. */
export const budgetCostMax = 10_000_000;
