// Label selectors (k8s.io/apimachinery/pkg/labels).
export type { Labels, Operator, Requirement } from './requirement.ts';
export { requirement } from './requirement.ts';
export type { LabelSelector, LabelSelectorRequirement } from '../meta/index.ts';
export type { Selector } from './selector.ts';
export { add, everything, fromLabelSelector, fromSet, labelsText, nothing, parse, selectorOf } from './selector.ts';
