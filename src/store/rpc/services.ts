// gRPC service definitions made from the descriptor table.
import type { ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { answeringMethods, messageFields, serviceMethods, streamingMethods } from './descriptors.ts';

export type ServiceName = keyof typeof serviceMethods;

type Json = Parameters<typeof fromJSON>[0];

const packageName = 'etcdserverpb';

function messageJson(fields: readonly string[]): object {
  const oneofs: Record<string, { oneof: string[] }> = {};
  const entries = fields.map((line) => {
    const [id = '', names = '', type = ''] = line.split(' ');
    const [name = '', group] = names.split('!').reverse();
    if (group) (oneofs[group] ??= { oneof: [] }).oneof.push(name);
    const repeated = type.startsWith('*');
    return [name, { id: Number(id), type: repeated ? type.slice(1) : type, ...(repeated && { rule: 'repeated' }) }];
  });
  return { fields: Object.fromEntries(entries), ...(Object.keys(oneofs).length > 0 && { oneofs }) };
}

function serviceJson(methods: readonly string[]): object {
  const entries = methods.map((line) => {
    const [name = '', requestType, responseType] = line.split(' ');
    const streams = {
      ...(streamingMethods.includes(name) && { requestStream: true, responseStream: true }),
      ...(answeringMethods.includes(name) && { responseStream: true }),
    };
    return [name, { requestType, responseType, ...streams }];
  });
  return { methods: Object.fromEntries(entries) };
}

function packages(): Json {
  const own: Record<string, object> = {};
  const mvcc: Record<string, object> = {};
  for (const [name, fields] of Object.entries(messageFields)) {
    if (name.startsWith('mvccpb.')) mvcc[name.slice('mvccpb.'.length)] = messageJson(fields);
    else own[name] = messageJson(fields);
  }
  for (const [name, methods] of Object.entries(serviceMethods)) own[name] = serviceJson(methods);
  return { options: { syntax: 'proto3' }, nested: { [packageName]: { nested: own }, mvccpb: { nested: mvcc } } } as Json;
}

let definitions: Record<ServiceName, ServiceDefinition> | undefined;

/** Definitions of all services, for grpc clients and servers. 64-bit numbers are JavaScript numbers: exact up to 2^53. */
export function serviceDefinitions(): Record<ServiceName, ServiceDefinition> {
  if (!definitions) {
    const loaded = fromJSON(packages(), { longs: Number, defaults: true, arrays: true, oneofs: true });
    const names = Object.keys(serviceMethods) as ServiceName[];
    const entries = names.map((name) => [name, loaded[`${packageName}.${name}`]]);
    definitions = Object.fromEntries(entries) as Record<ServiceName, ServiceDefinition>;
  }
  return definitions;
}
