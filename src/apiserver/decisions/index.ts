export { createGather, type Gather, type Gathered } from './gather.ts';
