// Hands the outcome to whoever asked.
import type { Link } from '../chain.ts';

export const send: Link = async (request, next) => {
  const outcome = await next(request);
  if (outcome.is !== 'failed') await request.reply.send(outcome);
  return outcome;
};
