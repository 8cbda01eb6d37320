// An image as an OCI layout archive that `ctr images import` reads (OCI image-spec: image layout, manifest, configuration).
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tar, type TarEntry } from './ustar.ts';

export interface ImageDefinition {
  /** Full name with tag, e.g. `registry.k8s.io/pause:3.10.1`. */
  reference: string;
  files: readonly TarEntry[];
  architecture: string;
  /** Default: true. */
  compressed?: boolean;
  config: {
    Entrypoint?: string[];
    Cmd?: string[];
    Env?: string[];
    User?: string;
    WorkingDir?: string;
    Labels?: Record<string, string>;
  };
}

const digest = (data: Uint8Array): string => `sha256:${createHash('sha256').update(data).digest('hex')}`;

const epoch = '1970-01-01T00:00:00Z';

/** The archive. The same definition gives the same bytes. */
export function buildImage({ reference, files, architecture, config, compressed = true }: ImageDefinition): Buffer {
  const blobs: TarEntry[] = [];
  const blob = (mediaType: string, data: Uint8Array): { mediaType: string; digest: string; size: number } => {
    const name = digest(data);
    blobs.push({ name: `blobs/${name.replace(':', '/')}`, mode: 0o644, content: data });
    return { mediaType, digest: name, size: data.length };
  };
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const layer = tar(files);
  const layerType = 'application/vnd.oci.image.layer.v1.tar';
  const layerBlob = compressed ? blob(`${layerType}+gzip`, gzipSync(layer)) : blob(layerType, layer);
  const configBlob = blob(
    'application/vnd.oci.image.config.v1+json',
    json({
      created: epoch,
      architecture,
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: [digest(layer)] },
      history: [{ created: epoch, created_by: 'sagong' }],
    }),
  );
  const manifestType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = blob(
    manifestType,
    json({ schemaVersion: 2, mediaType: manifestType, config: configBlob, layers: [layerBlob] }),
  );
  const annotations = {
    'io.containerd.image.name': reference,
    'org.opencontainers.image.ref.name': reference.split(':').at(-1) ?? '',
  };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations, platform: { architecture, os: 'linux' } }] };
  return tar([
    { name: 'oci-layout', mode: 0o644, content: json({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', mode: 0o644, content: json(index) },
    { name: 'blobs/', mode: 0o755 },
    { name: 'blobs/sha256/', mode: 0o755 },
    ...blobs,
  ]);
}
