import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { WebSocketConnection } from '../websocket/connection.ts';
import { encodeFrame, opcode } from '../websocket/frames.ts';
import { webSocketChannels } from './channels.ts';
import { channel, rulesOf } from './protocol.ts';

describe('a channel', () => {
  test('that ends as it fills its reader’s buffer does not hold back the others', async () => {
    const transport = new PassThrough();
    const connection = new WebSocketConnection(transport, { role: 'server', protocol: 'v5.channel.k8s.io' });
    const channels = webSocketChannels(connection, rulesOf('v5.channel.k8s.io'), false);
    const [input, sizes] = [channels.readable(channel.stdin), channels.readable(channel.resize)];
    const frame = (...bytes: (number | Buffer)[]): Buffer => {
      const payload = Buffer.concat(bytes.map((one) => (typeof one === 'number' ? Buffer.from([one]) : one)));
      return Buffer.concat(encodeFrame(opcode.binary, payload, { masked: true }));
    };
    const data = Buffer.alloc(input.readableHighWaterMark, 'x');
    transport.push(Buffer.concat([frame(channel.stdin, data), frame(channel.close, channel.stdin)]));
    transport.push(frame(channel.resize, Buffer.from('{}')));
    const [size] = await once(sizes, 'data');
    expect(String(size)).toBe('{}');
    expect((await input.toArray()).reduce((sum: number, one: Buffer) => sum + one.length, 0)).toBe(data.length);
    connection.destroy();
  });
});
