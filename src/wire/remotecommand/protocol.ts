// Names and rules of the remote command protocols (k8s.io/apimachinery/pkg/util/remotecommand, KEP-4006): exec, attach and port-forward over
// SPDY/3.1 streams or WebSocket channels.

/** Versions over SPDY, best first. '' is a client that does not negotiate. */
export const spdyCommandProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'] as const;

/** The subprotocols of remote commands over WebSocket, the best first. */
export const webSocketCommandProtocols = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
] as const;

export const portForwardProtocol = 'portforward.k8s.io';
export const portForwardTunnelProtocol = 'SPDY/3.1+portforward.k8s.io';
export const protocolVersionHeader = 'x-stream-protocol-version';
export const acceptedProtocolsHeader = 'x-accepted-stream-protocol-versions';

export const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export interface ProtocolRules {
  /** The error stream carries a Status as JSON; otherwise plain text of a failure. */
  statusOnErrorStream: boolean;
  /** There is a stream of terminal sizes. */
  resize: boolean;
  /** WebSocket: the end of stdin can be said (channel 255). */
  closeSignal: boolean;
  /** WebSocket: text messages with base64 payload. */
  base64: boolean;
}

export const rulesOf = (protocol: string): ProtocolRules => ({
  statusOnErrorStream: /^v[45]\./.test(protocol),
  resize: /^v[345]\./.test(protocol),
  closeSignal: protocol.startsWith('v5.'),
  base64: protocol.includes('base64'),
});

/** Which streams a command has. With `tty` there is no stderr. */
export interface CommandStreamOptions {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** The size of a terminal, in columns and rows. */
export interface TerminalSize {
  width: number;
  height: number;
}

/** How a command ended: with a code, or not at all because of an error of the machinery. */
export type CommandOutcome = { exitCode: number; message?: string } | { error: string };

/** What goes onto the error stream. */
export function encodeOutcome(outcome: CommandOutcome, rules: ProtocolRules): string {
  const failed = 'error' in outcome || outcome.exitCode !== 0;
  if (!failed) return rules.statusOnErrorStream ? JSON.stringify({ metadata: {}, status: 'Success' }) : '';
  if ('error' in outcome) {
    if (!rules.statusOnErrorStream) return outcome.error;
    const message = `Internal error occurred: ${outcome.error}`;
    const details = { causes: [{ message: outcome.error }] };
    return JSON.stringify({ metadata: {}, status: 'Failure', message, reason: 'InternalError', details, code: 500 });
  }
  const message = outcome.message ?? `command terminated with non-zero exit code: exit status ${outcome.exitCode}`;
  if (!rules.statusOnErrorStream) return message;
  const details = { causes: [{ reason: 'ExitCode', message: String(outcome.exitCode) }] };
  return JSON.stringify({ metadata: {}, status: 'Failure', message, reason: 'NonZeroExitCode', details });
}

interface StatusLike {
  status?: unknown;
  message?: unknown;
  reason?: unknown;
  details?: { causes?: { reason?: unknown; message?: unknown }[] };
}

/** Reads what came from the error stream; nothing means success. */
export function decodeOutcome(text: string, rules: ProtocolRules): CommandOutcome {
  if (text === '') return { exitCode: 0 };
  if (!rules.statusOnErrorStream) return { error: text };
  let status: StatusLike | null;
  try {
    status = JSON.parse(text) as StatusLike | null;
  } catch {
    return { error: `error stream protocol error: ${text}` };
  }
  if (status?.status === 'Success') return { exitCode: 0 };
  const message = typeof status?.message === 'string' ? status.message : text;
  if (status?.reason !== 'NonZeroExitCode') return { error: message };
  const causes = Array.isArray(status.details?.causes) ? status.details.causes : [];
  const code = Number(causes.find((cause) => cause?.reason === 'ExitCode')?.message);
  return Number.isInteger(code)
    ? { exitCode: code, message }
    : { error: `error stream protocol error: invalid exit code value in ${text}` };
}

/** Terminal sizes in a stream of JSON objects; what is no size is skipped. */
export function sizeReader(onSize: (size: TerminalSize) => void): (chunk: Buffer) => void {
  let text = '';
  return (chunk) => {
    text = (text + chunk.toString('utf8')).slice(-4096);
    for (let match = /\{[^{}]*\}/.exec(text); match !== null; match = /\{[^{}]*\}/.exec(text)) {
      text = text.slice(match.index + match[0].length);
      const size = readSize(match[0]);
      if (size) onSize(size);
    }
  };
}

function readSize(json: string): TerminalSize | undefined {
  try {
    const { Width, Height } = JSON.parse(json) as { Width?: unknown; Height?: unknown };
    return typeof Width === 'number' && typeof Height === 'number' ? { width: Width, height: Height } : undefined;
  } catch {
    return undefined;
  }
}

export const encodeSize = ({ width, height }: TerminalSize): string => `${JSON.stringify({ Width: width, Height: height })}\n`;
