/** Input that is no valid certificate, key, request or token. The message is fit for a client. */
export class PkiError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PkiError';
  }
}
