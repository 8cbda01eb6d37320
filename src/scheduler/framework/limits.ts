// Bounds of the pure part of the scheduler.

/** Changed nodes remembered for views that follow along; a view further behind starts anew. */
export const changeLogMax = 65_536;
/** Derived views kept per snapshot (counts of pods per selector, columns of label values). */
export const derivedViewsMax = 1024;
/** Kinds of affinity among placed pods up to which each is counted per node; above it the pods are looked at one by one. */
export const affinityGroupsMax = 128;
/** (Anti-)affinity terms of one pod that are looked at: each is asked of every placed pod, in one cycle. */
export const affinityTermsMax = 100;
/** Classes of equal pods whose verdicts and scores are kept. */
export const podClassesMax = 64;
/** Score of the best node for one plugin, before weights. */
export const maxNodeScore = 100;
/** Up to this many nodes a decision keeps every score; above it only the best few. */
export const explainedNodesMax = 256;
export const explainedBest = 10;
