// The OpenAPI 3.1 document of the API, made from the table of operations. Pure.
import * as z from 'zod';
import { once } from '#utils';
import {
  address,
  dnsZone,
  faults,
  instance,
  instanceType,
  loadBalancer,
  networkInterface,
  routeTable,
  securityGroup,
  subnet,
  vpc,
  zone,
} from '../model/index.ts';
import { auditEvent } from './account.ts';
import { errorBody } from './errors.ts';
import { type Operation, parameterNames } from './operation.ts';
import { operationEntries } from './operations.ts';

type Json = Record<string, unknown>;

const components = once(() => ({
  Zone: zone(),
  InstanceType: instanceType(),
  Vpc: vpc(),
  Subnet: subnet(),
  RouteTable: routeTable(),
  SecurityGroup: securityGroup(),
  Interface: networkInterface(),
  Instance: instance(),
  Address: address(),
  LoadBalancer: loadBalancer(),
  DnsZone: dnsZone(),
  Faults: faults(),
  AuditEvent: auditEvent(),
  Error: errorBody,
}));

const plain = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io }) as Json;
  return rest;
};
const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Answers name the resource they give. */
function responseSchema(schema: z.ZodType): Json {
  for (const [name, component] of Object.entries(components())) {
    if (schema === component) return reference(name);
    if (schema instanceof z.ZodObject && schema.shape.items instanceof z.ZodArray && schema.shape.items.element === component) {
      const { properties, ...rest } = plain(schema, 'output') as { properties: Json };
      return { ...rest, properties: { ...properties, items: { type: 'array', items: reference(name) } } };
    }
  }
  return plain(schema, 'output');
}

function parametersOf({ path, query }: Operation): Json[] {
  const inPath = parameterNames(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const { properties = {} } = (query ? plain(query, 'input') : {}) as { properties?: Record<string, Json> };
  const inQuery = Object.entries(properties).map(([name, schema]) =>
    name === 'tags'
      ? {
          name: 'tag',
          in: 'query',
          description: 'tag.KEY=VALUE: only resources with this tag; may be given for several keys.',
          schema: { type: 'object', additionalProperties: { type: 'string' } },
        }
      : { name, in: 'query', schema },
  );
  return [...inPath, ...inQuery];
}

const jsonContent = (schema: Json): Json => ({ 'application/json': { schema } });

function operationObject(operationId: string, operation: Operation): Json {
  const { summary, body, response, success, path } = operation;
  return {
    operationId,
    summary,
    tags: [path.split('/')[2]],
    parameters: parametersOf(operation),
    ...(body && { requestBody: { required: true, content: jsonContent(plain(body, 'input')) } }),
    responses: {
      [success]: { description: summary, ...(response && { content: jsonContent(responseSchema(response)) }) },
      default: { description: 'Refused or failed.', content: jsonContent(reference('Error')) },
    },
  };
}

/** The document as a plain object. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, operation] of operationEntries) {
    const item = (paths[operation.path] ??= {});
    item[operation.method.toLowerCase()] = operationObject(operationId, operation);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sagong local cloud', version: 'v1' },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(Object.entries(components()).map(([name, schema]) => [name, plain(schema, 'output')])),
    },
  };
}
