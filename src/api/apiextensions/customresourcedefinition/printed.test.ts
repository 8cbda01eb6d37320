import { expect, test } from 'vitest';
import type { CustomResourceDefinitionVersion } from '#api/apiextensions/v1';
import { printedVersions } from './printed.ts';

const version = (more: Partial<CustomResourceDefinitionVersion>): CustomResourceDefinitionVersion => ({
  name: 'v1',
  served: true,
  storage: false,
  ...more,
});

test('subresources and columns print by their Go names', () => {
  const additionalPrinterColumns = [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }];
  expect(JSON.stringify(printedVersions([version({ subresources: { status: {} }, additionalPrinterColumns })]))).toBe(
    '[{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":{"Status":{},"Scale":null},' +
      '"AdditionalPrinterColumns":[{"Name":"Color","Type":"string","Format":"","Description":"","Priority":0,"JSONPath":".spec.color"}],"SelectableFields":null}]',
  );
});

test('a schema prints every field of its struct, inner schemas too', () => {
  const openAPIV3Schema = {
    ...{ type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }] },
    properties: { b: { type: 'array', items: { type: 'string' } }, a: { additionalProperties: true } },
  };
  const [printed] = printedVersions([version({ schema: { openAPIV3Schema } })]) as {
    Schema: { OpenAPIV3Schema: Record<string, unknown> };
  }[];
  const { Properties, XValidations, ...others } = printed?.Schema.OpenAPIV3Schema ?? {};
  expect(Object.keys(others)).toHaveLength(42);
  expect(others).toMatchObject({ ID: '', Ref: null, Type: 'object', XListType: null, XIntOrString: false, Required: null });
  expect(Object.keys(Properties as object)).toEqual(['a', 'b']);
  expect(Properties).toMatchObject({
    a: { AdditionalProperties: { Allows: true, Schema: null } },
    b: { Items: { Schema: { Type: 'string' }, JSONSchemas: null } },
  });
  expect(XValidations).toEqual([
    { Rule: 'true', Message: '', MessageExpression: '', Reason: null, FieldPath: '', OptionalOldSelf: null },
  ]);
});
