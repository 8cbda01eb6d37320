// Refusals in the API's words (https://techdocs.akamai.com/linode-api/reference/errors): a list of reasons, each with the field that it is about. The field
// travels as the code of the refusal.
import { Refusal } from 'sagong/cloud-provider/test-server';

export const unauthorized = (): Refusal => new Refusal(401, '', 'Invalid Token');
export const notFound = (): Refusal => new Refusal(404, '', 'Not found');
export const invalid = (field: string, reason: string): Refusal => new Refusal(400, field, reason);
/** A job of the Linode is under way. */
export const busy = (): Refusal => new Refusal(400, '', 'Linode busy.');

const tooMany = 'Too many requests';

/** The body of the answer that refuses a request. */
export const refusalBody = ({ status, code, message }: Refusal): unknown => ({
  errors: [{ ...(code !== '' && code !== 'notFound' && { field: code }), reason: status === 429 ? tooMany : message }],
});
