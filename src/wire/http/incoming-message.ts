// Requests of HTTP/1.1 as Node's parser makes them, but for what it takes for a wish to change the protocol.
import { IncomingMessage } from 'node:http';

/**
 * A request with a body asks for no other protocol, whatever its headers say: Node would take the body for the first bytes of that protocol, and
 * servers of Go read it as that of an ordinary request.
 */
export class Http1Message extends IncomingMessage {
  /** What Node says. It is no private field, because Node sets it before such fields are there. */
  declare asksForUpgrade: boolean | null;

  get upgrade(): boolean {
    return this.asksForUpgrade === true && !this.#hasBody;
  }
  set upgrade(asks: boolean | null) {
    this.asksForUpgrade = asks;
  }

  get #hasBody(): boolean {
    return this.headers['transfer-encoding'] !== undefined || Number(this.headers['content-length'] ?? 0) > 0;
  }
}
