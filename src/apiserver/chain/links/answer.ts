// How a request that failed is answered: with a Status, whatever was thrown.
import { internalError, serverTimeout, StatusError } from '#apimachinery/errors';
import { StoreError, UnavailableError } from '#store';
import type { Logger } from '#utils';
import { ClientGoneError } from '#wire';
import { unreachableRetrySeconds } from '../../limits.ts';
import { NoAnswerError } from '../../request/cancellation.ts';
import type { Attributes } from '../../request/request.ts';
import type { Link } from '../link.ts';
import type { Outcome } from '../outcome.ts';
import type { ChainServices } from '../services.ts';
import { recordRefusal } from './record.ts';

/** Failures that nobody hears of: the connection is gone. */
const isUnheard = (error: unknown): boolean => error instanceof ClientGoneError || error instanceof NoAnswerError;

/** Unexpected failures are logged and say nothing about the server. */
function statusErrorOf(error: unknown, { target, verb }: Attributes, logger: Logger): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof UnavailableError && target) {
    logger.warn('the store does not answer', { resource: target.resource, verb, err: error.message });
    return serverTimeout(target, verb, unreachableRetrySeconds);
  }
  // Everything else that a store answers is passed on as upstream does: as it is, without a reason.
  if (error instanceof StoreError) {
    logger.warn('the store refused a request', { resource: target?.resource, verb, err: error.message });
    return new StatusError({ code: 500, message: error.message });
  }
  if (!isUnheard(error)) {
    const err = error instanceof Error ? (error.stack ?? error.message) : String(error);
    logger.error('unexpected error while serving a request', { err });
  }
  return internalError(error instanceof Error ? error.message : 'unknown error');
}

/**
 * Makes a Status that whoever asked may see of whatever is thrown. It stands in the chain twice: the audit log sees the answers to known users as
 * outcomes, and has one event for those whom nobody knows.
 */
export const answer =
  (services: ChainServices): Link =>
  (request, next) => {
    const failed = async (error: unknown): Promise<Outcome> => {
      const failure = statusErrorOf(error, request, services.logger);
      if (request.progress === 'received') await recordRefusal(services, request, () => request.reply.fail(failure, false));
      else if (!isUnheard(error)) {
        services.refusals.note(request, failure);
        request.reply.fail(failure, request.progress === 'identified');
      }
      return { is: 'failed', error: failure, cause: error };
    };
    try {
      return next(request).catch(failed);
    } catch (error) {
      return failed(error);
    }
  };
