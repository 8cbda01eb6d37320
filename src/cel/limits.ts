// Limits of CEL in Kubernetes (k8s.io/apiserver/pkg/apis/cel, k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel).

/** Nesting of an expression. */
export const depthMax = 250;
/** What one evaluation may cost. */
export const callCostMax = 1_000_000;
/** What all rules of one object, or all expressions of one policy, may cost. */
export const budgetCostMax = 10_000_000;

// Of our own, because expressions run on the only thread: real work in units of 10 to 20 ns, see meter.ts.

/** Of one evaluation. */
export const evaluationWorkUnits = 5_000_000;
/** Of all rules of one object, or all expressions of one policy. */
export const budgetWorkUnits = 20_000_000;
/** Characters of a text that an expression makes. */
export const madeTextCharsMax = 64 * 1024 * 1024;
/** Characters of a text that is read as an address, version or whole number: longer ones are none. */
export const readTextCharsMax = 1024;
