// oxlint plugin with the project's own rule: imports follow the room table (scripts/rooms.mjs).
import { relative, sep } from 'node:path';
import { importProblem } from './room-imports.mjs';

const src = new URL('../../src/', import.meta.url).pathname;

const roomImports = {
  create(context) {
    const file = relative(src, context.filename).split(sep).join('/');
    if (file.startsWith('..')) return {};
    const check = (node) => {
      const specifier = node.source?.value;
      if (typeof specifier !== 'string') return;
      const message = importProblem(file, specifier, context.sourceCode.text);
      if (message) context.report({ node: node.source, message });
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check, ImportExpression: check };
  },
};

export default { meta: { name: 'sagong' }, rules: { 'room-imports': roomImports } };
