// The way of every request through the apiserver, in upstream's order (k8s.io/apiserver/pkg/server/config.go, DefaultBuildHandlerChain).
// Requests over a connection, over a transport in memory and on raw paths all take it; they differ in how they are read and answered.
import type { Link, Next } from './link.ts';
import { authenticate, authorize, impersonate } from './links/access.ts';
import { answer } from './links/answer.ts';
import { bound, deadline } from './links/bounds.ts';
import { limit } from './links/limit.ts';
import { pace } from './links/pace.ts';
import { audit, observe } from './links/record.ts';
import type { ChainServices } from './services.ts';

/** Hands the outcome to whoever asked. */
const send: Link = async (request, next) => {
  const outcome = await next(request);
  const sending = outcome.is === 'failed' ? undefined : request.reply.send(outcome);
  if (sending) await sending;
  return outcome;
};

/** Hands requests for what other API servers serve on to them (k8s.io/kube-aggregator/pkg/apiserver). */
const aggregate =
  ({ remotes }: ChainServices): Link =>
  (request, next) =>
    remotes?.serve(request) ?? next(request);

const links = (services: ChainServices): Link[] => [
  observe(services), //      counts and times it
  answer(services), //       a failure before it is known who asks becomes a Status
  bound, //                  refuses targets that are too long
  deadline(services), //     ends what takes longer than its time
  authenticate(services), // finds the user
  audit(services), //        records the request from here to the end of its answer
  answer(services), //       any other failure becomes a Status
  impersonate(services), //  finds the user that this one acts as, if any
  pace(services), //         waits where that user has kept the thread busy for long
  limit(services), //        takes a seat among the requests in flight, or answers 429
  authorize(services), //    whether the user may do that
  send, //                   sends the outcome; the seat is kept until that is done
  aggregate(services), //    other API servers answer what they serve
];

/** The chain around `end`, which finds what a request asks for and does it. */
export function createChain(services: ChainServices, end: Next): Next {
  return links(services).reduceRight<Next>((next, link) => (request) => link(request, next), end);
}
