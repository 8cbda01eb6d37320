// Refusals as Azure Resource Manager says them (https://learn.microsoft.com/rest/api/azure/#errors).
import type { Refusal } from 'sagong/cloud-provider/test-server';

/** Where nobody has named one. */
const codes: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  409: 'AnotherOperationInProgress',
  422: 'NotSupportedByLocalCloud',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

export const refusalBody = ({ status, code, message }: Refusal): unknown => ({
  error: { code: code || (codes[status] ?? 'InternalServerError'), message },
});
