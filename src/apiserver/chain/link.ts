// What a link of the chain is: it gets a request and what comes after it.
import type { Incoming } from './incoming.ts';
import type { Outcome } from './outcome.ts';

export type Next = (request: Incoming) => Promise<Outcome>;
export type Link = (request: Incoming, next: Next) => Promise<Outcome>;
