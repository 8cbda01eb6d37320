export { type AcceptClause, parseAccept } from './accept.ts';
export { flagTexts, type FlagTexts, routeZpage, type ZpageAnswer, type Zpages } from './zpages.ts';
