// Node's own modules that a start would load late, after `optimizeLater` has changed V8's flags.
import 'node:dns';
import 'node:http2';
import 'node:zlib';
