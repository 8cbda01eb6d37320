// Bodies on the wire: JSON, YAML and protobuf, and which of them a request asks for.
export {
  type AcceptClause,
  type AcceptedMediaType,
  contentMediaType,
  type MediaTypeOffers,
  negotiateMediaType,
  parseAccept,
} from './media-type.ts';
export {
  decodeProtobuf,
  decodeWatchFrame,
  encodeProtobuf,
  encodeWatchFrame,
  FrameReader,
  openProtobuf,
  type ProtobufEnvelope,
  protobufMediaType,
  readProtobuf,
  supportsProtobuf,
} from './protobuf.ts';
export { type ParsedYaml, parseYaml, readYaml } from './yaml-read.ts';
export { formatYaml } from './yaml-write.ts';
export { goEscaped, sortedJson } from './go-json.ts';
export { protobufListWriter } from './proto-list.ts';
export { utf8Problem } from './utf8.ts';
