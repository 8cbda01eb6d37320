// Objects of a custom resource from one version to another: by name only, or by the definition's webhook.
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import { plainError } from '#apimachinery/errors';
import { parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { exponentialBuckets, type Metrics } from '#component-base';
import { type Clock, deepCopy } from '#utils';
import { conversionAnswerBytesMax, conversionCharsMax, conversionObjectsMax, conversionTimeoutSeconds } from '../../limits.ts';
import { readAnswer } from '../../outbound/read-answer.ts';
import type { WebhookClients } from '../../outbound/webhook-client.ts';
import {
  ConversionFailure,
  type ConversionReview,
  convertedObjects,
  failedText,
  reviewText,
  reviewType,
  reviewVersion,
} from './review.ts';

/**
 * Makes private objects of that version from frozen ones of other versions, in order; each goes through `shape`, which changes it in place.
 * Rejects with `StatusError` 500 when it cannot be done for all of them.
 */
export type Converter = (
  objects: readonly UnknownObject[],
  apiVersion: string,
  shape: (object: UnknownObject) => void,
) => Promise<UnknownObject[]>;

/** The versions differ by name only. */
const byName =
  (rest: ConverterDeps['rest']): Converter =>
  async (objects, apiVersion, shape) => {
    const made: UnknownObject[] = [];
    for (const object of objects) {
      const copy = Object.assign(deepCopy(object), { apiVersion });
      shape(copy);
      made.push(copy);
      await rest();
    }
    return made;
  };

/** The objects in the portions in which a webhook is asked for them, each with its texts. */
function* portions(objects: readonly UnknownObject[]): Generator<{ asked: UnknownObject[]; texts: string[] }> {
  let [asked, texts, chars]: [UnknownObject[], string[], number] = [[], [], 0];
  for (const object of objects) {
    const text = JSON.stringify(object);
    if (asked.length === conversionObjectsMax || (asked.length > 0 && chars + text.length > conversionCharsMax)) {
      yield { asked, texts };
      [asked, texts, chars] = [[], [], 0];
    }
    asked.push(object);
    texts.push(text);
    chars += text.length;
  }
  if (asked.length > 0) yield { asked, texts };
}

export interface ConverterDeps {
  /** Waited for where others may come first. */
  rest(): Promise<void> | undefined;
  clients: WebhookClients;
  uuid(): string;
  clock: Clock;
  metrics: Metrics;
}

export type ConverterFactory = (crd: CustomResourceDefinition) => Converter;

/** What upstream measures: each request, and each conversion by definition and versions. */
function conversionMetrics(metrics: Metrics) {
  const requests = metrics.counter({
    name: 'apiserver_conversion_webhook_request_total',
    help: 'Counter for conversion webhook requests with success/failure and failure error type',
    labels: ['result', 'failure_type'],
  });
  const durations = metrics.histogram({
    name: 'apiserver_conversion_webhook_duration_seconds',
    help: 'Conversion webhook request latency',
    labels: ['result', 'failure_type'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
  });
  const perDefinition = metrics.histogram({
    name: 'apiserver_crd_conversion_webhook_duration_seconds',
    help: 'CRD webhook conversion duration in seconds',
    labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    buckets: exponentialBuckets(0.001, 2, 15),
  });
  return (crd: string, from: string, to: string, seconds: number, failure: string): void => {
    const result = failure === '' ? 'success' : 'failure';
    requests.inc(1, result, failure);
    durations.observe(seconds, result, failure);
    perDefinition.observe(seconds, crd, from, to, String(failure === ''));
  };
}

const versionOf = (apiVersion: string): string => parseApiVersion(apiVersion).version;

export function converterFactory({ clients, uuid, clock, metrics, rest }: ConverterDeps): ConverterFactory {
  const observe = conversionMetrics(metrics);
  const named = byName(rest);
  return ({ metadata: { name = '' }, spec: { conversion } }) => {
    const { clientConfig, conversionReviewVersions = [] } = conversion?.webhook ?? {};
    if (conversion?.strategy !== 'Webhook' || !clientConfig) return named;
    const ask = async (
      objects: readonly UnknownObject[],
      texts: readonly string[],
      desiredAPIVersion: string,
    ): Promise<UnknownObject[]> => {
      const version = reviewVersion(conversionReviewVersions ?? []);
      const request = { uid: uuid(), desiredAPIVersion, objects };
      const review = await clients
        .post({
          clientConfig,
          timeoutSeconds: conversionTimeoutSeconds,
          body: reviewText(version, request, texts),
          responseBytesMax: conversionAnswerBytesMax,
        })
        .then((answer) => readAnswer<ConversionReview>(answer, reviewType))
        .catch((error: unknown) => {
          const message = `${failedText(objects)} failed: ${(error as Error).message}`;
          throw new ConversionFailure('conversion_webhook_call_failure', message, error);
        });
      return convertedObjects(review, version, request);
    };
    const measured = async (objects: UnknownObject[], texts: string[], apiVersion: string): Promise<UnknownObject[]> => {
      const started = clock.monotonic();
      let failure = '';
      try {
        return await ask(objects, texts, apiVersion);
      } catch (error) {
        failure = error instanceof ConversionFailure ? error.type : 'conversion_webhook_call_failure';
        throw plainError((error as Error).message);
      } finally {
        const seconds = (clock.monotonic() - started) / 1000;
        observe(name, versionOf(objects[0]?.apiVersion ?? ''), versionOf(apiVersion), seconds, failure);
      }
    };
    return async (objects, apiVersion, shape) => {
      const made: UnknownObject[] = [];
      for (const { asked, texts } of portions(objects)) {
        for (const object of await measured(asked, texts, apiVersion)) {
          shape(object);
          made.push(object);
          await rest();
        }
      }
      return made;
    };
  };
}
