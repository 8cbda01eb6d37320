// Limits of CEL in Kubernetes (k8s.io/apiserver/pkg/apis/cel, k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel).

/** Nesting of an expression, and length of a chain of operators or selections. */
export const depthMax = 250;
/** The most code points that an expression may have. */
export const expressionPointsMax = 100_000;
/** The most problems that are reported of one expression. */
export const issuesMax = 100;
/** Of a request, as sizes are estimated; the real limit does not change them. */
export const sizedRequestBytesMax = 3 * 1024 * 1024;
/** Estimated cost of one rule of a definition, times how often it may run for one object. */
export const ruleCostMax = 10_000_000;
/** The cost limit of all rules of one version of a definition. */
export const definitionCostMax = 100_000_000;
/** The cost limit of one selector of devices. */
export const selectorCostMax = 1_000_000;
/** The longest line that is shown beside a problem. */
export const snippetBytesMax = 16_384;
/** The most that one evaluation may cost. */
export const callCostMax = 1_000_000;
/** What all rules of one object, or all expressions of one policy, may cost. */
export const budgetCostMax = 10_000_000;

// Of our own, because expressions run on the only thread: real work in units of 10 to 20 ns, see meter.ts.

/** The work that compiling one token of an expression counts as. */
export const tokenWorkUnits = 500;
/** To compile all expressions of one policy or webhook configuration: some 40,000 tokens. */
export const policyWorkUnits = 20_000_000;
/** The work that compiling all selectors of one object may take. */
export const selectorsWorkUnits = 10_000_000;
/** The work that one evaluation may take. */
export const evaluationWorkUnits = 5_000_000;
/** Of all rules of one object, or all expressions of one policy. */
export const budgetWorkUnits = 20_000_000;
/** Characters of a text that an expression makes. */
export const madeTextCharsMax = 64 * 1024 * 1024;
/** The longest text that is read as an address, a version or a whole number; a longer one is not valid. */
export const readTextCharsMax = 1024;
