// From the text of `gce.conf` to typed fields. What is not known is an error (upstream passes over it in silence, and a misspelt field then has no
// effect).
import { iniFields, parseIni } from 'sagong/cloud-provider/kit';
import { globalSchema } from './schema.ts';

/** Throws an error that names the line. The fields themselves are checked against the schema afterwards. */
export function parseConfig(text: string): unknown {
  const config: Record<string, unknown> = {};
  for (const section of parseIni(text)) {
    const { name, subsection, line } = section;
    if (name.toLowerCase() !== 'global') throw new Error(`line ${line}: section [${name}] is not known; known is [global]`);
    if (subsection !== undefined) throw new Error(`line ${line}: [global] takes no name`);
    const fields = iniFields(section, globalSchema);
    for (const [field, value] of Object.entries(fields)) {
      const known = config[field];
      config[field] = Array.isArray(known) && Array.isArray(value) ? [...(known as unknown[]), ...(value as unknown[])] : value;
    }
  }
  return config;
}
