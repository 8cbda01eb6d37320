// Objects of a custom resource from one version to another: by name only, or by the definition's webhook.
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import { plainError } from '#apimachinery/errors';
import { parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { exponentialBuckets, type Metrics } from '#component-base';
import type { Clock } from '#utils';
import { conversionObjectsMax, conversionTimeoutSeconds, remoteDocumentBytesMax } from '../../limits.ts';
import { deepCopy } from '../../registry/generic/values.ts';
import type { WebhookClients } from '../../outbound/webhook-client.ts';
import { ConversionFailure, convertedObjects, failedText, reviewOf, reviewVersion } from './review.ts';

/**
 * Makes private objects of that version from frozen ones of other versions, in order. Rejects with `StatusError` 500 when it cannot be done
 * for all of them.
 */
export type Converter = (objects: readonly UnknownObject[], apiVersion: string) => Promise<UnknownObject[]>;

/** The versions differ by name only. */
const byName: Converter = (objects, apiVersion) =>
  Promise.resolve(objects.map((object) => Object.assign(deepCopy(object), { apiVersion })));

export interface ConverterDeps {
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

export function converterFactory({ clients, uuid, clock, metrics }: ConverterDeps): ConverterFactory {
  const observe = conversionMetrics(metrics);
  return ({ metadata: { name = '' }, spec: { conversion } }) => {
    const { clientConfig, conversionReviewVersions = [] } = conversion?.webhook ?? {};
    if (conversion?.strategy !== 'Webhook' || !clientConfig) return byName;
    const ask = async (objects: readonly UnknownObject[], desiredAPIVersion: string): Promise<UnknownObject[]> => {
      const version = reviewVersion(conversionReviewVersions ?? []);
      const request = { uid: uuid(), desiredAPIVersion, objects };
      const text = await clients
        .post({
          clientConfig,
          timeoutSeconds: conversionTimeoutSeconds,
          body: JSON.stringify(reviewOf(version, request)),
          responseBytesMax: remoteDocumentBytesMax,
        })
        .then((answer) => (JSON.parse(answer) ?? {}) as Parameters<typeof convertedObjects>[0])
        .catch((error: unknown) => {
          const message = `${failedText(objects)} failed: ${(error as Error).message}`;
          throw new ConversionFailure('conversion_webhook_call_failure', message, error);
        });
      return convertedObjects(text, version, request);
    };
    const measured: Converter = async (objects, apiVersion) => {
      const started = clock.monotonic();
      let failure = '';
      try {
        return await ask(objects, apiVersion);
      } catch (error) {
        failure = error instanceof ConversionFailure ? error.type : 'conversion_webhook_call_failure';
        throw plainError((error as Error).message);
      } finally {
        const seconds = (clock.monotonic() - started) / 1000;
        observe(name, versionOf(objects[0]?.apiVersion ?? ''), versionOf(apiVersion), seconds, failure);
      }
    };
    return async (objects, apiVersion) => {
      const made: UnknownObject[] = [];
      for (let at = 0; at < objects.length; at += conversionObjectsMax)
        made.push(...(await measured(objects.slice(at, at + conversionObjectsMax), apiVersion)));
      return made;
    };
  };
}
