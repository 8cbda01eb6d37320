/** The peer broke the protocol, or the connection ended. */
export class SpdyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`spdy: ${message}`, options);
    this.name = 'SpdyError';
  }
}
