// The metadata service of an instance, and services that give access tokens: that of the instance's account, a security token service for workload
// identity federation (RFC 8693), and one in the manner of `token-url`.
import { Refusal, type Routes, type VendorRequest } from 'sagong/cloud-provider/test-server';

export interface MetadataOptions {
  token: string;
  project: string;
  zone: string;
  network: string;
  now(): number;
}

const flavored = ({ headers }: VendorRequest): void => {
  if (headers['metadata-flavor'] !== 'Google') throw new Refusal(403, 'forbidden', 'Missing Metadata-Flavor:Google header.');
};

export function metadataRoutes({ token, project, zone, network, now }: MetadataOptions): Routes {
  const texts: Readonly<Record<string, string>> = {
    'project/project-id': project,
    'instance/zone': `projects/1234567890/zones/${zone}`,
    'instance/network-interfaces/0/network': `projects/1234567890/networks/${network}`,
    'universe/universe-domain': 'googleapis.com',
  };
  const headers = { 'metadata-flavor': 'Google' };
  return {
    'GET /computeMetadata/v1/{path...}': (request) => {
      flavored(request);
      const { path = '' } = request.params;
      if (path.endsWith('/token')) return { headers, body: { access_token: token, expires_in: 3_600, token_type: 'Bearer' } };
      const body = texts[path.replace(/\/$/, '')];
      if (body === undefined && path.replace(/\/$/, '') !== 'instance') throw new Refusal(404, 'notFound', 'Not Found');
      return { headers: { ...headers, 'content-type': 'application/text' }, body: body ?? '' };
    },
    'POST /sts/v1/token': ({ body }) => {
      const { subject_token: subject } = body as Record<string, string>;
      if (subject !== 'projected-token') throw new Refusal(400, 'invalid_grant', 'the subject token is not known');
      const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token';
      return { body: { access_token: token, issued_token_type, token_type: 'Bearer', expires_in: 3_600 } };
    },
    'POST /alternate/token': ({ headers: given, bytes }) => {
      if (given['authorization'] !== `Bearer ${token}`) throw new Refusal(401, 'authError', 'Invalid Credentials');
      if (bytes.toString() !== '{"for":"me"}') throw new Refusal(400, 'invalid', 'the body is not what was agreed');
      return { body: { accessToken: token, expireTime: new Date(now() + 3_600_000).toISOString() } };
    },
  };
}
