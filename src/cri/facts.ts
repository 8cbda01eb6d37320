// gRPC service definitions, made from the table of names and numbers in facts.gen.json (written by spec/cri/generate.mjs).
import { loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import file from './facts.gen.json' with { type: 'json' };

interface Services {
  RuntimeService: ServiceClientConstructor;
  ImageService: ServiceClientConstructor;
  Events: ServiceClientConstructor;
  Snapshots: ServiceClientConstructor;
}

let services: Services | undefined;

/** Walks to `path` in what grpc-js made of the definitions. */
function at(root: unknown, path: string): ServiceClientConstructor {
  let here = root;
  for (const name of path.split('.')) here = (here as Record<string, unknown>)[name];
  return here as ServiceClientConstructor;
}

/** The services of the CRI. They are built on first use, which takes some tens of milliseconds. */
export function criServices(): Services {
  if (services === undefined) {
    const { nested } = file as { nested: Parameters<typeof fromJSON>[0]['nested'] };
    const root = loadPackageDefinition(
      fromJSON({ nested }, { longs: String, enums: String, defaults: true, arrays: true, oneofs: true }),
    );
    services = {
      RuntimeService: at(root, 'runtime.v1.RuntimeService'),
      ImageService: at(root, 'runtime.v1.ImageService'),
      Events: at(root, 'containerd.services.events.v1.Events'),
      Snapshots: at(root, 'containerd.services.snapshots.v1.Snapshots'),
    };
  }
  return services;
}
