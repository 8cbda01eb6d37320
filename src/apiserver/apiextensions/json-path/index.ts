export { follow, Visits } from './find.ts';
export { JsonPathError, type Path } from './nodes.ts';
export { pathOf } from './parse.ts';
