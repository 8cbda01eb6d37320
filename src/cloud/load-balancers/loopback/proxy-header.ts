// The header by which a proxy tells a backend its client (The PROXY protocol, versions 1 and 2, HAProxy Technologies). IPv4 over TCP only. Pure.

export interface Endpoints {
  sourceAddress: string;
  sourcePort: number;
  destinationAddress: string;
  destinationPort: number;
}

const signature = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];
/** Version 2, command PROXY. */
const command = 0x21;
const tcpOverIpv4 = 0x11;
const addressBytes = 12;

const octets = (address: string): number[] => address.split('.').map(Number);
const bytes = (port: number): number[] => [port >> 8, port & 0xff];

export function proxyHeader(version: 'v1' | 'v2', endpoints: Endpoints): Uint8Array {
  const { sourceAddress, sourcePort, destinationAddress, destinationPort } = endpoints;
  if (version === 'v1')
    return new TextEncoder().encode(`PROXY TCP4 ${sourceAddress} ${destinationAddress} ${sourcePort} ${destinationPort}\r\n`);
  return Uint8Array.from([
    ...signature,
    command,
    tcpOverIpv4,
    ...bytes(addressBytes),
    ...octets(sourceAddress),
    ...octets(destinationAddress),
    ...bytes(sourcePort),
    ...bytes(destinationPort),
  ]);
}
