// The configuration of `sagong cloud`: YAML or JSON, all of it optional.
import * as z from 'zod';
import { parseYaml } from '#apimachinery/codec';
import { once } from '#utils';
import { instanceType } from '../model/index.ts';
import { quotas } from '../core/index.ts';

const account = () =>
  z.strictObject({
    id: z.string().min(1),
    role: z.enum(['customer', 'service']).default('customer'),
    /** Exactly one of the two; the file is relative to the configuration's folder. */
    token: z.string().min(8).optional(),
    tokenFile: z.string().min(1).optional(),
  });

const cloudConfig = once(() =>
  z.strictObject({
    region: z
      .string()
      .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      .default('local-1'),
    zones: z.array(z.string().min(1)).min(1).optional(),
    publicCidr: z.cidrv4().optional(),
    instanceTypes: z.array(instanceType()).min(1).optional(),
    /** Default: `customer` and `sagong` (a service), with tokens made at the first start. */
    accounts: z.array(account()).min(1).optional(),
    /** More addresses than the one of the flags. */
    listen: z.array(z.strictObject({ host: z.string(), port: z.int().min(0).max(65_535) })).default([]),
    /** The certificate of the API; default: one that an authority of the cloud's own signs. */
    tls: z.strictObject({ certFile: z.string(), keyFile: z.string() }).optional(),
    /** Names and addresses of the API's own certificate, beside localhost and 127.0.0.1. */
    names: z.array(z.string()).default([]),
    /** `machine`: instances and networks of this machine, as root. `memory`: none. `auto`: what is possible. */
    drivers: z.enum(['auto', 'machine', 'memory']).default('auto'),
    /** Whether instances are to have a way to this machine and out of it. */
    uplink: z.boolean().default(true),
    quotas: z.strictObject(Object.fromEntries(Object.keys(quotas).map((name) => [name, z.int().min(0).optional()]))).default({}),
  }),
);
export type CloudConfig = z.infer<ReturnType<typeof cloudConfig>>;

/** Throws a sentence that names the field. '' is the default configuration. */
export function parseCloudConfig(text: string, path: string): CloudConfig {
  const parsed = cloudConfig().safeParse(text.trim() === '' ? {} : valueOf(text, path));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${path}: ${issue?.path.join('.') || 'the configuration'}: ${issue?.message}`);
}

function valueOf(text: string, path: string): unknown {
  try {
    return parseYaml(text).value;
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
