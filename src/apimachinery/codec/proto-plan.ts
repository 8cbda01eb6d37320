// What the protobuf reader and writer need of a type: its fields by number, with inlined structs as the messages they are on the wire
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf; the layouts of the special types are those of their generated.proto).
import { assert } from '#utils';
import type { FieldSchema, SchemaTable } from '../schema/index.ts';

export interface ProtoField {
  number: number;
  /** Absent for an inlined struct: its fields are read from and written to the owner itself. */
  field?: FieldSchema;
  message?: ProtoMessage;
}

export class ProtoMessage {
  readonly name: string;
  readonly #plans: ProtoPlans;
  #fields: ProtoField[] | undefined;
  #byNumber: Map<number, ProtoField> | undefined;

  constructor(name: string, plans: ProtoPlans) {
    this.name = name;
    this.#plans = plans;
  }

  /** In the order of their numbers, as the encoder writes them. */
  get fields(): ProtoField[] {
    return (this.#fields ??= this.#plans.fieldsOf(this.name));
  }

  field(number: number): ProtoField | undefined {
    this.#byNumber ??= new Map(this.fields.map((field) => [field.number, field]));
    return this.#byNumber.get(number);
  }
}

export class ProtoPlans {
  readonly #table: SchemaTable;
  readonly #messages = new Map<string, ProtoMessage>();

  constructor(table: SchemaTable) {
    this.#table = table;
  }

  message(name: string): ProtoMessage {
    let message = this.#messages.get(name);
    if (message === undefined) this.#messages.set(name, (message = new ProtoMessage(name, this)));
    return message;
  }

  fieldsOf(name: string): ProtoField[] {
    const type = this.#table.type(name);
    assert(type !== undefined, `type ${name} is in the schema table`);
    const fields: ProtoField[] = [];
    for (const field of type.fields) {
      if (field.number === 0 || field.inlined !== undefined) continue;
      fields.push({ number: field.number, field, ...(field.ref !== undefined && { message: this.message(field.ref) }) });
    }
    for (const { number, ref } of type.inlined ?? []) fields.push({ number, message: this.message(ref) });
    return fields.sort((a, b) => a.number - b.number);
  }
}

const plans = new WeakMap<SchemaTable, ProtoPlans>();

/** The plans of a table, made as they are needed. */
export function protoPlansOf(table: SchemaTable): ProtoPlans {
  let found = plans.get(table);
  if (found === undefined) plans.set(table, (found = new ProtoPlans(table)));
  return found;
}

/** Whether values of the type have a protobuf form; Table and its like have none. */
export function hasProtobuf(table: SchemaTable, typeName: string): boolean {
  const fields = table.type(typeName)?.fields ?? [];
  return fields.every((field) => field.number > 0 || field.name === 'kind' || field.name === 'apiVersion');
}
