// A client that costs little: HTTP/1.1 over TLS connections that stay open, requests written as they are, answers read by their length or to their last
// chunk. It knows only what our servers and upstream's send.
import { once } from 'node:events';
import { connect } from 'node:tls';

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

/** What the head of an answer says: its status, and where its body ends. */
function headOf(text) {
  const length = /\r\ncontent-length: *(\d+)/i.exec(text);
  return { status: Number(text.slice(9, 12)), length: length ? Number(length[1]) : undefined };
}

class Connection {
  #socket;
  #done;
  #failed;
  #onBody;
  #head;
  #early = Buffer.alloc(0);
  #bytes = 0;
  #tail = Buffer.alloc(0);

  static async open(port) {
    const connection = new Connection();
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.setNoDelay(true);
    socket.on('data', (chunk) => connection.#read(chunk));
    const fail = () => connection.#failed?.(new Error('the server has closed the connection'));
    socket.on('error', fail).on('close', fail);
    connection.#socket = socket;
    return connection;
  }

  /** Resolves with status and length once the whole answer is there. `onBody`: called with what comes of the body. */
  send(bytes, onBody) {
    this.#head = undefined;
    this.#bytes = 0;
    this.#onBody = onBody;
    return new Promise((done, failed) => {
      this.#done = done;
      this.#failed = failed;
      this.#socket.write(bytes);
    });
  }

  close() {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #read(chunk) {
    let body = chunk;
    if (!this.#head) {
      const all = this.#early.length > 0 ? Buffer.concat([this.#early, chunk]) : chunk;
      const end = all.indexOf(headEnd);
      this.#early = end < 0 ? all : Buffer.alloc(0);
      if (end < 0) return;
      this.#head = headOf(all.latin1Slice(0, end + 2));
      body = all.subarray(end + headEnd.length);
    }
    this.#bytes += body.length;
    this.#onBody?.(body);
    if (this.#ended(body)) this.#done({ status: this.#head.status, bytes: this.#bytes });
  }

  #ended(body) {
    if (this.#head.length !== undefined) return this.#bytes >= this.#head.length;
    this.#tail = body.length < lastChunk.length ? Buffer.concat([this.#tail, body]) : body;
    return this.#tail.subarray(-lastChunk.length).equals(lastChunk);
  }
}

/** The bytes of a request with a token. */
export function requestBytes(method, path, { token = 'admin', body, type = 'application/json' } = {}) {
  const entity = body === undefined ? '' : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\naccept: application/json\r\nuser-agent: bench\r\n`;
  return `${head}${entity}\r\n${body ?? ''}`;
}

/** `clients` connections to a server. */
export async function openLoad(port, clients) {
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(port)));
  return {
    connections,
    /** Sends `count` requests, one at a time on each of the connections; `make(i)` gives the bytes. Throws when one is refused. */
    async run(count, make) {
      let next = 0;
      const one = async (connection) => {
        for (let at = next++; at < count; at = next++) {
          const { status } = await connection.send(make(at));
          if (status >= 300) throw new Error(`request ${at} was answered ${status}`);
        }
      };
      await Promise.all(connections.map(one));
    },
    close() {
      for (const connection of connections) connection.close();
    },
  };
}
