// What pods of these tests run: web and UDP servers that tell who they are and whom they see, and a port that tells what comes in first.
// Asked to end, it goes on serving for the seconds in DELAY, as a server does that is taken out of load balancers before it goes.
import { createSocket } from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { hostname } from 'node:os';

const name = hostname();
const plain = (address = '') => address.replace('::ffff:', '');

createHttpServer({ keepAlive: false }, ({ socket }, response) => {
  response.setHeader('connection', 'close');
  response.end(`${name} ${plain(socket.remoteAddress)}\n`);
}).listen(8080);

const udp = createSocket('udp4');
// A client that cannot be answered is no reason to end.
udp.on('error', () => {});
udp.on('message', (message, { address, port }) => udp.send(`${name} ${address} ${message}`, port, address));
udp.bind(8080);

createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (data) => socket.end(`${data.toString('latin1').split('\r\n')[0]}\n`));
}).listen(8081);

process.on('SIGTERM', () => setTimeout(() => process.exit(0), 1000 * Number(process.env.DELAY ?? 0)));
