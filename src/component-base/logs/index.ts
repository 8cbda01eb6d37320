// The room's logging part; reached through #component-base.
export { type AdjustableLogger, createLogger, debugVerbosity, type LogFormat, type LoggerOptions } from './logger.ts';
