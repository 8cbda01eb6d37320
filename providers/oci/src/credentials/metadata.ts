// Where the own instance is (https://docs.oracle.com/iaas/Content/Compute/Tasks/gettingmetadata.htm).
import { sendHttp } from 'sagong/cloud-provider/kit';
import type { Environment, OwnPlace } from '../config/settings.ts';
import { metadataTimeoutMs } from '../limits.ts';

const defaultUrl = 'http://169.254.169.254/opc/v2/';

/** Where this machine is, by its metadata service; nothing where there is no such service. */
export async function ownPlace(env: Environment): Promise<OwnPlace> {
  const base = (env['OCI_METADATA_BASE_URL'] ?? defaultUrl).replace(/\/?$/, '/');
  try {
    const answer = await sendHttp({
      url: `${base}instance/`,
      headers: { authorization: 'Bearer Oracle' },
      signal: AbortSignal.timeout(metadataTimeoutMs),
    });
    const { canonicalRegionName, compartmentId } = answer.json<{ canonicalRegionName?: string; compartmentId?: string }>();
    return { ...(canonicalRegionName && { region: canonicalRegionName }), ...(compartmentId && { compartment: compartmentId }) };
  } catch {
    return {};
  }
}
