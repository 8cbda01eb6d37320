// What odd-custom.mjs sends: definitions, values of custom resources, bodies, patches and parameters that people, programs and attackers get wrong.

/** The schema of the things whose values are tried. */
export const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['color'],
      properties: {
        color: { type: 'string', enum: ['red', 'green'] },
        count: { type: 'integer', minimum: 0, maximum: 10 },
        long: { type: 'integer', format: 'int64' },
        small: { type: 'integer', format: 'int32' },
        ratio: { type: 'number', exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
        name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
        when: { type: 'string', format: 'date-time' },
        day: { type: 'string', format: 'date' },
        mail: { type: 'string', format: 'email' },
        address: { type: 'string', format: 'ipv4' },
        bytes: { type: 'string', format: 'byte' },
        id: { type: 'string', format: 'uuid' },
        span: { type: 'string', format: 'duration' },
        port: { 'x-kubernetes-int-or-string': true },
        list: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', maxLength: 3 } },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        keyed: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'port'],
          items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, port: { type: 'integer', default: 80 }, value: { type: 'string', nullable: true } } },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        labels: { type: 'object', maxProperties: 2, additionalProperties: { type: 'string', maxLength: 2 } },
        one: { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: { type: 'string' }, b: { type: 'string' } } },
        any: { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: { type: 'string' }, b: { type: 'string' } } },
        all: { type: 'object', allOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: { type: 'string' }, b: { type: 'string' } } },
        never: { type: 'object', not: { required: ['a'] }, properties: { a: { type: 'string' } } },
        empty: { type: 'string', nullable: true, default: 'filled' },
        ruled: {
          type: 'object',
          properties: { low: { type: 'integer' }, high: { type: 'integer' } },
          'x-kubernetes-validations': [
            { rule: 'self.low <= self.high', message: 'low is above high' },
            { rule: '!has(self.high) || self.high < 100', messageExpression: '"high is too high"', reason: 'FieldValueForbidden', fieldPath: '.high' },
          ],
        },
        fixed: { type: 'string', maxLength: 20, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', reason: 'FieldValueInvalid' }] },
        embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
};

const wrong = [null, 1, -1, 1.5, 'x', '', true, [], {}, [null], [1], { a: 1 }, { a: null }];
export const values = {
  color: [...wrong, 'blue', 'Red'],
  count: [...wrong, 11, 1e20, 3.0],
  long: [...wrong, 9007199254740991, 1e19],
  small: [...wrong, 2147483648, -2147483649],
  ratio: [...wrong, 0, 0.7, 1e300],
  name: [...wrong, 'abcde', 'AB', 'éé', 'ab\ncd'],
  when: [...wrong, '2020-01-01', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00.123+02:00', '2020-13-01T00:00:00Z'],
  day: [...wrong, '2020-01-01', '2020-1-1', '2020-02-31'],
  mail: [...wrong, 'a@b', 'a@b.c', 'a b@c.d', 'A <a@b.c>'],
  address: [...wrong, '1.2.3.4', '01.2.3.4', '1.2.3', '::1'],
  bytes: [...wrong, 'YQ==', 'YQ', '!!'],
  id: [...wrong, '123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000', '123e4567'],
  span: [...wrong, '1s', '1h2m', '1d', '-1s', '1 hour', '5'],
  port: [...wrong, '80', 2147483648],
  list: [...wrong, ['a', 'b', 'c'], ['abcd'], ['a', 1], ['a', null]],
  set: [...wrong, ['a', 'a'], ['a', 'b', 'a', 'b', 'a']],
  keyed: [...wrong, [{ name: 'a' }, { name: 'a', port: 80 }], [{ port: 1 }], [{ name: 'a', extra: 1 }], [{ name: 'a', value: null }], [{ name: null }], [{ name: 'a', port: null }], [{ name: 'a', port: 'x' }], [{ name: 'a' }, 'x']],
  free: [...wrong, { a: { b: [null, 1.0, 1e21] } }],
  labels: [...wrong, { a: 'abc' }, { a: 'a', b: 'b', c: 'c' }, { a: ['x'] }, { '': 'a' }, { 'a.b/c[0]': 'long' }],
  one: [...wrong, { a: 'x', b: 'x' }, { a: 'x' }, { c: 'x' }],
  any: [...wrong, { a: 'x', b: 'x' }, { c: 'x' }],
  all: [...wrong, { a: 'x', b: 'x' }, { a: 'x' }],
  never: [...wrong, { a: 'x' }, { b: 'x' }],
  empty: [...wrong],
  ruled: [...wrong, { low: 1, high: 0 }, { low: 1 }, { high: 1 }, { low: 1, high: 200 }, { low: 300, high: 200 }, { low: 1, high: 2, middle: 3 }],
  fixed: [...wrong, 'y'],
  embedded: [...wrong, { apiVersion: 'v1', kind: 'Pod' }, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'Bad Name' } }, { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 1 }, unknown: 1 } }, { apiVersion: 'a/b/c', kind: 'b c' }, { kind: 'Pod', metadata: { name: 'a' } }],
  unknown: ['x', { a: 1 }, null],
};

const yaml = 'application/yaml';
const json = 'application/json';
const meta = '"metadata":{"name":"b"}';
export const bodies = [
  ...[
    `{<own>,${meta},"spec":{"color":"red","color":"green"}}`, `{<own>,"metadata":{"name":"b","name":"c"},"spec":{"color":"red"}}`, `{<own>,${meta},"kind":"Other"}`,
    `{<own>,${meta},"data":{"a":1}}`, `{<own>,${meta},"data":{"a":"b","a":"c"}}`, `{<own>,${meta},"data":["a"]}`, `{<own>,${meta},"data":"x"}`, `{<own>,${meta},"immutable":"yes"}`,
    `{<own>,${meta},"binaryData":{"a":"!!"}}`, `{<own>,${meta},"binaryData":{"a":"YQ=="}}`, `{<own>,${meta},"binaryData":{"a":"YQ"}}`, `{<own>,${meta},"binaryData":{"a":[1,300]}}`, `{<own>,${meta},"Data":{"a":"b"}}`,
    `{<own>,"metadata":{"name":1}}`, `{<own>,"metadata":"x"}`, `{<own>,"metadata":null}`, `{<own>,"metadata":[]}`, `{<own>,"metadata":{"name":"b","labels":{"a":1}}}`, `{<own>,"metadata":{"name":"b","labels":["a"]}}`, `{<own>,"metadata":{"name":"b","labels":null}}`,
    `{<own>,"metadata":{"name":"b","labels":{"a":null}}}`, `{<own>,"metadata":{"name":"b","annotations":{"a":true}}}`, `{<own>,"metadata":{"name":"b","finalizers":"x"}}`, `{<own>,"metadata":{"name":"b","finalizers":[1]}}`, `{<own>,"metadata":{"name":"b","finalizers":["x"]}}`,
    `{<own>,"metadata":{"name":"b","ownerReferences":{}}}`, `{<own>,"metadata":{"name":"b","ownerReferences":[{}]}}`, `{<own>,"metadata":{"name":"b","ownerReferences":[{"uid":1}]}}`, `{<own>,"metadata":{"name":"b","ownerReferences":["x"]}}`,
    `{<own>,"metadata":{"name":"b","creationTimestamp":"x"}}`, `{<own>,"metadata":{"name":"b","creationTimestamp":1}}`, `{<own>,"metadata":{"name":"b","deletionTimestamp":"2020-01-01"}}`, `{<own>,"metadata":{"name":"b","generation":"x"}}`, `{<own>,"metadata":{"name":"b","generation":1.5}}`,
    `{<own>,"metadata":{"name":"b","managedFields":[{}]}}`, `{<own>,"metadata":{"name":"b","managedFields":"x"}}`, `{<own>,"metadata":{"name":"b","unknown":1,"other":{"a":1}}}`, `{<own>,"metadata":{"name":"b","deletionGracePeriodSeconds":"x"}}`, `{<own>,"metadata":{"name":"b","deletionGracePeriodSeconds":1}}`,
    `{<own>,"metadata":{"name":"b","generateName":"c-"}}`, `{<own>,"metadata":{"generateName":"Bad "}}`, `{<own>,"metadata":{"name":"b","namespace":"other"}}`, `{<own>,"metadata":{"name":"b","namespace":1}}`, `{<own>,"metadata":{"name":"b","resourceVersion":"5"}}`, `{<own>,"metadata":{"name":"b","uid":"x"}}`,
    `{<own>,${meta},}`, `{<own>,${meta}`, `{<own>,${meta}} x`, `{<own>,${meta}}{<own>}`, `{<own> ${meta}}`, `{<own>,'a':1}`, `{<own>,${meta},"a":01}`, `{<own>,${meta},"a":+1}`, `{<own>,${meta},"a":.5}`, `{<own>,${meta},"a":1.}`, `{<own>,${meta},"a":1e}`, `{<own>,${meta},"a":NaN}`, `{<own>,${meta},"a":tru}`, `{<own>,${meta},"a":undefined}`,
    `{<own>,${meta},"a":"\\x"}`, `{<own>,${meta},"a":"\\u12"}`, `{<own>,${meta},"data":{"a":"\\ud800"}}`, `{<own>,${meta},"data":{"a":"\t"}}`, `{<own>,${meta},"a":"b}`, `{<own>,${meta},"a":[1,]}`, `{<own>,${meta},"a":[1 2]}`, `{<own>,${meta},"a":{1:2}}`, `{<own>,${meta},"a":{"b"}}`, `{<own>,${meta},"a":nul}`, '\ufeff{<own>}', ` \n{<own>,${meta},"spec":{"color":"red"}}\n `,
    `{<own>,${meta},"spec":${'['.repeat(200)}${']'.repeat(200)}}`, `{<own>,${meta},"spec":${'['.repeat(11000)}${']'.repeat(11000)}}`, `{<own>,${meta},"a":123456789012345678901234567890}`, `{<own>,${meta},"spec":{"color":"red","long":9223372036854775807}}`, `{<own>,${meta},"spec":{"color":"red","long":9223372036854775808}}`, `{<own>,${meta},"spec":{"color":"red","count":1.0}}`, `{<own>,${meta},"spec":{"color":"red","count":1e0}}`, `{<own>,${meta},"a":1e400}`,
    '{"apiVersion":1,"kind":"<kind>"}', '{"apiVersion":"<version>","kind":1}', '{"apiVersion":"<version>"}', '{"kind":"<kind>"}', '{"apiVersion":"","kind":""}', '{"apiVersion":"a/b/c","kind":"<kind>"}', '{"apiVersion":null,"kind":null}', '{"apiVersion":{},"kind":[]}', '{"apiversion":"<version>","Kind":"<kind>"}', '[{<own>}]', '"<kind>"', 'true', '12', 'null', '', ' ', '{}', '[]',
  ].map((body) => ({ type: json, body })),
  ...[
    'apiVersion: <version>\nkind: <kind>\nmetadata:\n  name: b\n  name: c\n', 'apiVersion: <version>\nkind: <kind>\nmetadata:\n\tname: b\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: &a\n  name: b\nspec: *a\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: *missing\n', 'a: b: c', '- a\n- b', 'x', '"x', '{a', '---\n---\n', '', '# only\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: {name: yes}\n',
    'apiVersion: <version>\nkind: <kind>\nmetadata: {name: b}\ndata: {a: 1, b: true, c: null, d: 1.50, e: 0x10, f: 2020-01-01}\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: {name: b}\nspec: {color: red, count: 0o7, ratio: .5}\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: {name: b}\n? [a]\n: b\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: {name: b}\n1: b\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: {name: b}\nspec: !!binary YQ==\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: {name: b}\nspec: !own {color: red}\n',
    'apiVersion: <version>\nkind: <kind>\nmetadata: {name: b}\n<<: {spec: {color: red}}\n', 'apiVersion: <version>\nkind: <kind>\nmetadata: {name: b}\n---\napiVersion: v1\n', 'apiVersion: <version>\nkind: <kind>\nmetadata:\n name: b\n  labels: {}\n', '%YAML 9.9\n---\na: b', 'a: "\\q"', 'a: [1, 2', "a: 'b", 'a: |\nb', '@a: b', '`a`', 'a: @b', 'a: %b', '&a', '*a', '!', '? a', ': a', '- - - a', '{a: b, a: c}',
  ].map((body) => ({ type: yaml, body })),
  ...[Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from([0]), Buffer.from('6b387300', 'hex'), Buffer.from('6b3873000a', 'hex'), Buffer.from('ffff', 'hex')].flatMap((body) => ['application/vnd.kubernetes.protobuf', 'application/cbor', json, yaml].map((type) => ({ type, body }))),
];

const [merge, strategic, jsonPatch, apply] = ['merge-patch+json', 'strategic-merge-patch+json', 'json-patch+json', 'apply-patch+yaml'].map((type) => `application/${type}`);
export const patches = [
  ...['', 'x', '[]', '[{}]', 'null', '{"spec":null}', '{"metadata":null}', '{"metadata":{"labels":{"a":1}}}', '{"metadata":{"labels":["a"]}}', '{"metadata":{"name":"other"}}', '{"metadata":{"uid":"x"}}', '{"metadata":{"resourceVersion":"1"}}', '{"metadata":{"resourceVersion":1}}', '{"metadata":{"resourceVersion":"x"}}', '{"kind":"Other"}', '{"apiVersion":"other/v1"}', '{"a":1,"a":2}', '{"metadata":{"finalizers":["Bad"]}}', '{"metadata":{"$patch":"delete"}}', '{"metadata":{"$patch":"bad"}}', '{"$patch":"replace"}', '{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}', '{"metadata":{"$setElementOrder/finalizers":["a"]}}', '{"metadata":{"$retainKeys":["name"]}}', '{"metadata":{"managedFields":[{}]}}', '{"metadata":{"managedFields":null}}', '{"metadata":{"creationTimestamp":"x"}}', '{"metadata":{"labels":{"a":"b"}},"status":{"phase":"x"}}', '{"metadata":{"ownerReferences":[{"uid":"1"}]}}', '1', '"x"', '{'].flatMap((body) => [merge, strategic].map((type) => ({ type, body }))),
  ...['', '{}', '[', '[1]', 'null', '[null]', '[{"op":"add"}]', '[{"op":"add","path":"/metadata/labels/a"}]', '[{"op":"add","path":"metadata","value":1}]', '[{"op":"remove","path":"/absent"}]', '[{"op":"remove","path":"/metadata/absent/deeper"}]', '[{"op":"replace","path":"/absent","value":1}]', '[{"op":"replace","path":"","value":{}}]', '[{"op":"test","path":"/metadata/name","value":"no"}]', '[{"op":"test","path":"/absent","value":null}]', '[{"op":"copy","from":"/absent","path":"/x"}]', '[{"op":"move","from":"/absent","path":"/x"}]', '[{"op":"move","path":"/x"}]', '[{"op":"bad","path":"/x"}]', '[{"op":1,"path":"/x"}]', '[{"op":"add","path":1}]', '[{"path":"/x"}]', '[{"op":"add","path":"/metadata/finalizers/5","value":"a"}]', '[{"op":"add","path":"/metadata/finalizers/-","value":"a.b/c"}]', '[{"op":"add","path":"/metadata/managedFields/-1","value":{}}]', '[{"op":"remove","path":"/metadata/managedFields/99"}]', '[{"op":"remove","path":"/metadata/managedFields/x"}]', '[{"op":"add","path":"/metadata/labels","value":{"a~1b":"c"}}]', '[{"op":"add","path":"/metadata/a~2b","value":1}]', '[{"op":"replace","path":"/metadata/name","value":"x"}]', '[{"op":"add","path":"/metadata/labels","value":"x"}]'].map((body) => ({ type: jsonPatch, body })),
  ...['', 'x', '[]', '{}', 'null', '{<own>}', '{<own>,"metadata":{}}', '{<own>,"metadata":{"name":"other"}}', '{<own>,"metadata":{"managedFields":[]}}', '{<own>,"metadata":{"managedFields":[{}]}}', '{"kind":"Other","apiVersion":"v1"}', '{<own>,"metadata":{"resourceVersion":"1"}}', '{<own>,"metadata":{"uid":"x"}}', '{<own>,"metadata":{"labels":{"a":1}}}', '{<own>,"metadata":{"labels":["a"]}}', '{<own>,"unknown":1}', '{<own>,"spec":"x"}', '{<own>,"spec":{"unknown":1}}', '{<own>,"metadata":{"finalizers":["a.b/c","a.b/c"]}}', '{<own>,"metadata":{"ownerReferences":[{"uid":"1"},{"uid":"1"}]}}', '{<own>,"metadata":{"ownerReferences":[{"name":"x"}]}}', '{<own>,"metadata":"x"}', '{<own>,"metadata":{"annotations":null}}', 'a: b: c', '{<own>,"metadata":{"name":1}}', '{<own>,"status":{"phase":"x"}}'].map((body) => ({ type: apply, body })),
  ...['', 'text/plain', 'application/json', 'application/patch', 'application/json-patch', 'application/apply-patch+cbor', 'application/merge-patch+json; charset=x', 'a b'].map((type) => ({ type, body: '{}' })),
];

export const parameters = [
  ...['a', 'a=b', 'a==b', 'a!=b', '!a', 'a in (b', 'a in b', 'a in ()', 'a in (b,)', 'a notin (b)', 'a>1', 'a>x', 'a<1,b', ',', 'a,', 'a b', '!a=b', 'a=(b)', 'a=b c', 'Bad!=b', 'a/b/c', `${'x'.repeat(64)}=a`, `a=${'x'.repeat(64)}`, '-a', 'a=-b', '=', '(', 'in', 'in in (in)', 'a exists', 'a=,b=', 'a>1.5', 'a>', '!', '!!a', 'a in (b,c),d notin (e)'].map((selector) => `labelSelector=${encodeURIComponent(selector)}`),
  ...['metadata.name=a', 'metadata.name==a', 'metadata.name!=a', 'metadata.namespace=x', 'metadata.uid=x', 'spec.color=red', 'spec.count=1', 'spec.count=x', 'spec.absent=1', 'spec.color', '=', 'a', 'a=b', 'metadata.name=a,metadata.name=b', 'metadata.name in (a)', 'metadata.name=a\\,b', 'metadata.name=\\', 'metadata.name=a\\x', 'metadata.name=Bad Name', 'status.phase=Running', 'spec.nodeName=', 'status.phase=x,', 'metadata.name>a', ',', '!metadata.name', 'metadata.name=a=b'].map((selector) => `fieldSelector=${encodeURIComponent(selector)}`),
  ...['limit=x', 'limit=-1', 'limit=1.5', 'limit=', 'limit=99999999999999999999', 'limit=0', 'limit=1&limit=2', 'continue=x', 'continue=', 'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0', 'continue=e30', 'continue=bnVsbA', 'continue=eyJ2IjoieCJ9', 'continue=x&resourceVersion=5', 'resourceVersion=x', 'resourceVersion=-1', 'resourceVersion=0', 'resourceVersion=1', 'resourceVersion=', 'resourceVersion=99999999999', 'resourceVersion=1.5', 'resourceVersionMatch=Exact', 'resourceVersionMatch=x', 'resourceVersion=0&resourceVersionMatch=Exact', 'resourceVersion=0&resourceVersionMatch=NotOlderThan', 'resourceVersion=x&resourceVersionMatch=Exact', 'resourceVersion=1&resourceVersionMatch=x', 'timeoutSeconds=x', 'timeoutSeconds=-1', 'watch=x', 'watch=false', 'watch=0', 'watch=f', 'sendInitialEvents=true', 'sendInitialEvents=x', 'sendInitialEvents=false', 'allowWatchBookmarks=x', 'watch=true&resourceVersion=x', 'watch=true&resourceVersionMatch=Exact', 'watch=true&sendInitialEvents=true', 'watch=true&sendInitialEvents=true&resourceVersionMatch=Exact', 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 'watch=true&continue=x', 'watch=true&limit=x', 'watch=true&timeoutSeconds=1&labelSelector=%28', 'watch=true&fieldSelector=a%3Db', 'watch=true&resourceVersionMatch=NotOlderThan', 'pretty=x', 'pretty=true', 'export=true', 'dryRun=x', 'unknown=1', 'fieldValidation=x', 'shardSelector=x', 'ignoreStoreReadErrorWithClusterBreakingPotential=x', '%zz', 'a=%zz', 'labelSelector=%00', 'labelSelector=a;b', ';', '&&', '=x'],
];

export const columnPaths = [
  ...['.spec.color', 'spec.color', '$.spec.color', '{.spec.color}', '.spec', '.', '', '..', '..color', '.spec..color', '.spec.*', '.*', '.spec.list[*]', '.spec.list[0]', '.spec.list[-1]', '.spec.list[0:1]', '.spec.list[::2]', '.spec.list[0,1]', '.spec.list[', '.spec.list[]', '.spec.list[x]', '.spec["color"]', ".spec['color']", ".spec['color','count']", '.metadata.labels.a\\.b', '.metadata.labels["a.b"]', ".metadata.annotations['a.b/c']", '.spec.keyed[?(@.name=="a")].value', ".spec.keyed[?(@.name=='a')].value", '.spec.keyed[?(@.port>1)].name', '.spec.keyed[?(@.port)].name', '.spec.keyed[?(@.name)]', '.spec.keyed[?(@.name=="a"', '.spec.keyed[?()]', '.spec.keyed[?(name=="a")]', '.spec.keyed[?(@.name=="a" && @.port==1)]', '.spec.keyed[?(@.name!="a")].name', '.spec.keyed[?(@.name=~"a")].name'],
  ...['.spec.color }', '{', '}', '.spec.color}{.spec.count', '.spec{.color}', '"x"', '.spec.color"x"', '.metadata.name', '.metadata.creationTimestamp', '.metadata', '.status.phase', '.absent', '.spec.a-b', '.spec.a_b', '.spec.é', '.spec.$', '.spec.@', '@.spec', '@', '$', '$..name', '.spec.color.deeper', '.spec.count', '.spec.list', '.spec[*]', '.[0]', '[0]', '[*]', '.spec.color range', '.spec.color\n', ' .spec.color', '.spec. color', '.spec.color[0]', '.spec,.metadata', '.spec.(a)', '.spec|x', '.spec.color;', '\\.spec', '.spec.list[1:0]', '.spec.list[5]', '.spec.list[-9]', '.spec.list[0:9]', '.spec.list[::0]', '.spec.list[::-1]', '.spec.list[1:2:3:4]', '.spec.list[99999999999999999999]', '.spec.list[ 0 ]', '.spec.list[0', '.spec.list]'],
];

const broken = (change) => ({ version: { schema: { openAPIV3Schema: { type: 'object', properties: { spec: change } } } } });
const rule = (text, type = 'string', more = {}) => broken({ type, 'x-kubernetes-validations': [{ rule: text, ...more }] });
export const definitions = [
  ...[{}, { type: 'x' }, { type: 'string', format: 'x' }, { type: 'integer', format: 'int8' }, { type: 'object', properties: { a: {} } }, { type: 'array' }, { type: 'array', items: {} }, { type: 'array', items: { type: 'string' }, uniqueItems: true }, { type: 'string', enum: [] }, { type: 'string', enum: [1] }, { type: 'string', pattern: '(' }, { type: 'string', pattern: '(?=a)' }, { type: 'string', default: 1 }, { type: 'integer', default: 'x' }, { type: 'integer', minimum: 5, default: 1 }, { type: 'object', default: { a: 1 }, properties: {} }, { $ref: '#/x' }, { type: 'object', additionalProperties: false }, { type: 'object', additionalProperties: true }, { type: 'object', additionalProperties: { type: 'string' }, properties: { a: { type: 'string' } } }, { type: 'string', nullable: true, default: null }, { type: 'string', default: null }, { type: 'object', dependencies: { a: ['b'] } }, { type: 'object', definitions: {} }, { type: 'object', patternProperties: { a: { type: 'string' } } }, { type: 'string', id: 'x' }, { type: 'object', required: ['a', 'a'] }, { type: 'string', minLength: -1 }, { type: 'string', minLength: 5, maxLength: 1 }, { type: 'number', multipleOf: 0 }, { type: 'number', multipleOf: -1 }, { type: 'array', items: { type: 'string' }, maxItems: -1 }, { oneOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'object', oneOf: [{ properties: { a: { type: 'string' } } }] }, { type: 'object', allOf: [{ default: 1 }] }, { type: 'object', not: { 'x-kubernetes-preserve-unknown-fields': true } }, { type: 'string', anyOf: [{ description: 'x' }] }, { 'x-kubernetes-int-or-string': true, type: 'string' }, { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }] }, { type: 'string', 'x-kubernetes-preserve-unknown-fields': true }, { type: 'object', 'x-kubernetes-preserve-unknown-fields': false }, { type: 'object', 'x-kubernetes-embedded-resource': true }, { type: 'string', 'x-kubernetes-embedded-resource': true }, { type: 'object', 'x-kubernetes-list-type': 'set' }, { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'x' }, { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'map' }, { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' }, { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] }, { type: 'array', items: { type: 'object', required: ['a'], properties: { a: { type: 'object' } } }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'a', 'b'] }, { type: 'array', items: { type: 'string', nullable: true }, 'x-kubernetes-list-type': 'set' }, { type: 'string', 'x-kubernetes-map-type': 'atomic' }, { type: 'object', 'x-kubernetes-map-type': 'x' }, { type: 'array', 'x-kubernetes-list-map-keys': ['a'], items: { type: 'string' } }, { type: 'string', title: 'x', externalDocs: { url: 'x' }, example: 1 }, { type: 'string', unknown: 1 }, { type: ['string', 'null'] }, 'x', null, { type: 'string', exclusiveMinimum: 5 }, { type: 'object', properties: { '': { type: 'string' } } }, { type: 'object', minProperties: 2, maxProperties: 1 }].map(broken),
  ...['', 'x', 'self', 'self ==', 'self == 1', 'self.a', 'self == oldSelf', 'oldSelf == self && true', '1', 'self.size() > 0', 'self.matches("(")', "self.startsWith('a') || x", 'has(self)', 'self.all(c, true)', 'true\ntrue', '"a" in self', 'now()', 'authorizer', 'self.lowerAscii() == "a"', 'isURL(self)', 'ip(self).family() == 4', 'self == optional.none()', 'dyn(self) == 1', 'self.find("a").size() == 1', 'format.dns1123Label().validate(self).hasValue()', 'semver(self).major() > 1', 'quantity(self).isGreaterThan(quantity("1"))', 'self[0] == "a"', '!self', '-self == self', 'self ? true : false', 'type(self) == string', 'self == r"\\q"', '"\\q" == self', "self == 'a", '[1,2].all(x, x > 0)', 'cel.bind(a, self, a == "b")', '[self].sortBy(x, x)[0] == self', 'self.__absent__'].map((text) => rule(text)),
  rule('true', 'string', { message: '' }), rule('true', 'string', { message: 'a\nb' }), rule('true', 'string', { messageExpression: '1' }), rule('true', 'string', { messageExpression: 'self +' }), rule('true', 'string', { messageExpression: '' }), rule('true', 'string', { message: ' ', messageExpression: '"a"' }), rule('true', 'string', { reason: 'x' }), rule('true', 'object', { fieldPath: '.x' }), rule('true', 'object', { fieldPath: 'x' }), rule('true', 'string', { fieldPath: '' }), rule('true', 'string', { optionalOldSelf: true }), rule('self == oldSelf.orValue("a")', 'string', { optionalOldSelf: true }), rule('self.x', 'object'), rule('has(self.metadata)', 'object'),
  ...[{ scope: 'x' }, { scope: '' }, { group: 'x' }, { group: '' }, { group: 'Bad' }, { names: {} }, { names: { plural: 'Bad', kind: 'bad kind' } }, { names: { plural: 'x', kind: 'X', shortNames: ['Bad', ''], categories: ['Bad'] } }, { versions: [] }, { versions: null }, { conversion: { strategy: 'x' } }, { conversion: { strategy: 'Webhook' } }, { conversion: { strategy: 'None', webhook: {} } }, { conversion: { strategy: 'Webhook', webhook: { clientConfig: {}, conversionReviewVersions: [] } } }, { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'http://a', service: { name: 'a', namespace: 'b', port: 0 } }, conversionReviewVersions: ['v1'] } } }, { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://a', caBundle: 'YQ==' }, conversionReviewVersions: ['v2'] } } }, { preserveUnknownFields: true }, { unknown: 1 }].map((change) => ({ change })),
  ...[{ name: 'x1' }, { name: 'V1' }, { name: '' }, { served: false }, { storage: false }, { served: 'x' }, { schema: null }, { schema: {} }, { schema: { openAPIV3Schema: {} } }, { schema: { openAPIV3Schema: { type: 'string' } } }, { schema: { openAPIV3Schema: { type: 'object', properties: { metadata: { type: 'string' } } } } }, { schema: { openAPIV3Schema: { type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } } } }, { schema: { openAPIV3Schema: { type: 'object', properties: { metadata: { type: 'object', properties: { name: { type: 'string', pattern: '^a$' } } } } } } }, { schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.metadata.name == "a"' }, { rule: 'self.metadata.labels == {}' }] } } }, { deprecated: true }, { deprecationWarning: 'x' }, { deprecated: true, deprecationWarning: '' }, { deprecated: true, deprecationWarning: 'é\n' }, { deprecated: true, deprecationWarning: 'x'.repeat(300) }, { subresources: { scale: {} } }, { subresources: { scale: { specReplicasPath: 'x', statusReplicasPath: '.spec.x' } } }, { subresources: { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a', labelSelectorPath: '.metadata.x' } } }, { subresources: { scale: { specReplicasPath: '.spec[0]', statusReplicasPath: '.status.a.b' } } }, { subresources: { status: 'x' } }, { additionalPrinterColumns: [{ name: '', type: '', jsonPath: '' }] }, { additionalPrinterColumns: [{ name: 'a', type: 'x', format: 'y', jsonPath: '.a' }] }, { additionalPrinterColumns: [{ name: 'a', type: 'integer', format: 'int32', jsonPath: '.a', priority: -1 }] }, { additionalPrinterColumns: [{ name: 'a', type: 'date', jsonPath: '.a', description: 1 }] }, { additionalPrinterColumns: [] }, { selectableFields: [{ jsonPath: '.x' }] }, { selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.color' }] }, { selectableFields: [{ jsonPath: '.spec.free' }] }, { selectableFields: [{ jsonPath: '.metadata.name' }] }, { selectableFields: [{ jsonPath: '' }] }, { selectableFields: [{ jsonPath: 'spec.color' }] }, { selectableFields: [{ jsonPath: '.spec.list[0]' }] }, { selectableFields: Array.from({ length: 9 }, () => ({ jsonPath: '.spec.count' })) }].map((version) => ({ version })),
];
