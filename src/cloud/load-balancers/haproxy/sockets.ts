// HAProxy's administrative sockets (HAProxy 2.6 management guide, "Unix Socket commands"): one connection for each question.
import { connect } from 'node:net';
import { limits } from '../limits.ts';

/** A question's line may fill HAProxy's buffer at most; half of it is safe. */
const lineBytesMax = 8_000;

/** Sends `line`; gives all that is answered until the end. Rejects when the socket cannot be reached, is silent too long or says too much. */
export function ask(path: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    const chunks: Buffer[] = [];
    let bytes = 0;
    socket.setTimeout(limits.socketTimeoutMs, () => socket.destroy(new Error('HAProxy does not answer on its socket')));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > limits.answerBytesMax) socket.destroy(new Error('the answer of HAProxy is too long'));
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
    socket.end(`${line}\n`);
  });
}

/** Sends many commands in few connections, in order. What they answer is for a later look at the state to tell. */
export async function tell(path: string, commands: readonly string[]): Promise<void> {
  let line = '';
  for (const command of commands) {
    if (line !== '' && line.length + command.length + 1 > lineBytesMax) {
      await ask(path, line);
      line = '';
    }
    line = line === '' ? command : `${line};${command}`;
  }
  if (line !== '') await ask(path, line);
}
