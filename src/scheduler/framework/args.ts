// Arguments of plugins (`pluginConfig` of a profile): each plugin that takes some has a schema of them, and nothing else reaches it. Pure.
import * as z from 'zod';
import type { Plugin } from './plugin.ts';

/** Makes a plugin from what the configuration says; undefined: nothing. Throws `ArgsError`. */
export type PluginFactory = (args: unknown) => Plugin;

/** The arguments of a plugin are not of its type. */
export class ArgsError extends Error {}

/**
 * A schema of arguments: the fields, beside the names that a file may give them (`kind: NodeAffinityArgs`). It is made when there are arguments to
 * read: most schedulers have none, and schemas take their time.
 */
export const argsSchema =
  <Shape extends z.ZodRawShape>(kind: string, shapeOf: () => Shape) =>
  () =>
    z.strictObject({
      apiVersion: z.literal('kubescheduler.config.k8s.io/v1').optional(),
      kind: z.literal(kind).optional(),
      ...shapeOf(),
    });

/** The arguments that are of a schema. */
export type ArgsOf<Schema extends () => z.ZodType> = z.infer<ReturnType<Schema>>;

const textOf = ({ issues }: z.ZodError): string =>
  issues
    .map((issue) => {
      const at = issue.path
        .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
        .join('')
        .replace(/^\./, '');
      if (issue.code !== 'unrecognized_keys') return `${at === '' ? 'args' : at}: ${issue.message}`;
      return issue.keys
        .map((key) => `strict decoding error: unknown field ${JSON.stringify(at === '' ? key : `${at}.${key}`)}`)
        .join(', ');
    })
    .join(', ');

/** The factory of a plugin that takes arguments. */
export const taking =
  <Args>(schema: () => z.ZodType<Args>, make: (args?: Args) => Plugin): PluginFactory =>
  (args) => {
    if (args === undefined || args === null) return make();
    const read = schema().safeParse(args);
    if (!read.success) throw new ArgsError(textOf(read.error));
    return make(read.data);
  };

/** The factory of a plugin that takes none. */
export const plain =
  (make: () => Plugin): PluginFactory =>
  (args) => {
    if (args !== undefined && args !== null) throw new ArgsError('the plugin takes no arguments');
    return make();
  };
