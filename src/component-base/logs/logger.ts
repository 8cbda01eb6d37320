// Log lines as upstream's components write them (k8s.io/component-base/logs, klog v2): the klog text header, or one JSON object a line.
import { type Clock, type Logger, quote } from '#utils';
import { formatTextValues } from './text.ts';
import { toJsonValue } from './values.ts';

export type LogFormat = 'text' | 'json';

export interface LoggerOptions {
  /** Verbosity as in `--v`: `debug` lines appear from 4 on, `info` from 0. */
  level?: number;
  format?: LogFormat;
  /** Receives whole lines, each ending in a newline. Default: standard error. */
  write?: (line: string) => void;
  clock: Clock;
  /** Stands where klog prints the source file: the component's name. */
  component: string;
  /** Overrides `level` per component: `--vmodule`. */
  vmodule?: Record<string, number>;
}

/** The verbosity at which `Logger.debug` speaks, which is upstream's "debug level". */
export const debugVerbosity = 4;

type Severity = 'E' | 'W' | 'I' | 'D';
type Values = Record<string, unknown>;

interface Sink {
  options: LoggerOptions;
  level: number;
  write: (line: string) => void;
}

const pad = (n: number, width: number): string => String(n).padStart(width, '0');

/** `I1121 11:41:21.123456   12345 kube-apiserver] "message" key="value"` in local time, as klog. */
function textLine(sink: Sink, severity: Severity, message: string, values: Values | undefined): string {
  const at = new Date(sink.options.clock.now());
  const date = `${pad(at.getMonth() + 1, 2)}${pad(at.getDate(), 2)}`;
  const time = `${pad(at.getHours(), 2)}:${pad(at.getMinutes(), 2)}:${pad(at.getSeconds(), 2)}.${pad(at.getMilliseconds(), 3)}000`;
  const header = `${severity === 'D' ? 'I' : severity}${date} ${time} ${String(process.pid).padStart(7)} ${sink.options.component}]`;
  return `${header} ${quote(message)}${formatTextValues(values)}\n`;
}

/** The zap line of component-base/logs/json: `ts` in milliseconds, `v` only below error. */
function jsonLine(sink: Sink, severity: Severity, message: string, values: Values | undefined): string {
  const line: Record<string, unknown> = { ts: sink.options.clock.now(), caller: sink.options.component, msg: message };
  if (severity !== 'E') line.v = severity === 'D' ? debugVerbosity : 0;
  for (const [key, value] of Object.entries(values ?? {})) line[key === 'error' ? 'err' : key] = toJsonValue(value);
  return `${JSON.stringify(line)}\n`;
}

function bind(sink: Sink, bound: Values | undefined): Logger {
  const format = sink.options.format === 'json' ? jsonLine : textLine;
  const emit = (severity: Severity, message: string, values?: Values): void => {
    if (severity === 'D' && sink.level < debugVerbosity) return;
    sink.write(format(sink, severity, message, bound === undefined ? values : { ...bound, ...values }));
  };
  return {
    error: (message, values) => emit('E', message, values),
    warn: (message, values) => emit('W', message, values),
    info: (message, values) => emit('I', message, values),
    debug: (message, values) => emit('D', message, values),
    with: (values) => bind(sink, { ...bound, ...values }),
  };
}

/** A logger whose verbosity may change while it is used, also in what was derived from it by `with`. */
export interface AdjustableLogger extends Logger {
  setLevel(level: number): void;
}

/** A logger that never throws: what cannot be printed is named by its type. */
export function createLogger(options: LoggerOptions): AdjustableLogger {
  const level = options.vmodule?.[options.component] ?? options.level ?? 0;
  const write = options.write ?? ((line: string): void => void process.stderr.write(line));
  const sink: Sink = { options, level, write };
  return {
    ...bind(sink, undefined),
    setLevel(changed) {
      sink.level = changed;
    },
  };
}
