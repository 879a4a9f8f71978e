// Empties the functions of JavaScript and TypeScript that a change added or altered.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

// Each parser gives a tree of nodes with `type`, `start` and `end`, and the text that those are places in. The first one
// that is there and reads a file counts.
function fromProject(name) {
  return require(require.resolve(name, { paths: [process.cwd()] }));
}

function acorn(text) {
  const { parse } = require('internal/deps/acorn/acorn/dist/acorn');
  const options = {
    ecmaVersion: 'latest',
    preserveParens: true,
    allowHashBang: true,
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  };
  try {
    return { text, tree: parse(text, { ...options, sourceType: 'module' }) };
  } catch {
    return { text, tree: parse(text, { ...options, sourceType: 'script' }) };
  }
}

function babel(text) {
  const plugins = ['typescript', 'jsx', 'decorators-legacy'];
  const options = { sourceType: 'unambiguous', createParenthesizedExpressions: true, plugins };
  return { text, tree: fromProject('@babel/parser').parse(text, options).program };
}

function typescript(text, name) {
  const ts = fromProject('typescript');
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  if (file.parseDiagnostics.length > 0) throw new SyntaxError('it cannot be parsed');
  const kinds = {
    [ts.SyntaxKind.FunctionDeclaration]: 'FunctionDeclaration',
    [ts.SyntaxKind.FunctionExpression]: 'FunctionExpression',
    [ts.SyntaxKind.ArrowFunction]: 'ArrowFunctionExpression',
    [ts.SyntaxKind.MethodDeclaration]: 'ObjectMethod',
    [ts.SyntaxKind.GetAccessor]: 'ObjectMethod',
    [ts.SyntaxKind.SetAccessor]: 'ObjectMethod',
    [ts.SyntaxKind.Constructor]: 'ObjectMethod',
    [ts.SyntaxKind.Block]: 'BlockStatement',
    [ts.SyntaxKind.ClassDeclaration]: 'ClassDeclaration',
    [ts.SyntaxKind.ClassExpression]: 'ClassExpression',
    [ts.SyntaxKind.ExpressionStatement]: 'ExpressionStatement',
    [ts.SyntaxKind.CallExpression]: 'CallExpression',
    [ts.SyntaxKind.NewExpression]: 'NewExpression',
    [ts.SyntaxKind.Decorator]: 'Decorator',
    [ts.SyntaxKind.StringLiteral]: 'Literal',
  };
  const convert = (node) => {
    const made = { type: kinds[node.kind] || 'Other', start: node.getStart(file), end: node.end, inner: [] };
    const named = node.name || (node.kind === ts.SyntaxKind.BinaryExpression && node.left);
    if (named) made.id = { name: (named.name || named).getText(file) };
    if (!named && made.type === 'FunctionDeclaration') made.id = { name: 'default' };
    if (node.kind === ts.SyntaxKind.Constructor) made.id = { name: 'constructor' };
    if (made.type === 'CallExpression' || made.type === 'NewExpression' || made.type === 'Decorator') {
      // A decorator may be what a call gives.
      const called = (made.type === 'Decorator' && node.expression.expression) || node.expression;
      made.callee = { name: (called.name || called).getText(file) };
    }
    ts.forEachChild(node, (child) => {
      const inner = convert(child);
      made.inner.push(inner);
      if (child === node.body) made.body = inner;
      if (child === node.expression && made.type === 'ExpressionStatement') made.expression = inner;
    });
    if (made.type === 'BlockStatement') made.body = made.inner;
    return made;
  };
  return { text, tree: convert(file) };
}

function stripped(text) {
  return acorn(require('node:module').stripTypeScriptTypes(text));
}

// What runs such files without looking at their types does the same.
function esbuild(text) {
  return acorn(fromProject('esbuild').transformSync(text, { loader: 'ts', target: 'esnext' }).code);
}

function parse(text, name) {
  const isPlain = /\.[mc]?js$/.test(name);
  const untyped = name.endsWith('x') ? [] : [stripped, esbuild];
  const parsers = isPlain ? [acorn, typescript, babel] : [typescript, babel, ...untyped];
  let isUnread = false;
  for (const parser of parsers) {
    try {
      return parser(text, name);
    } catch (error) {
      isUnread ||= error instanceof SyntaxError || error instanceof RangeError;
    }
  }
  throw new Error(isUnread ? 'it cannot be parsed' : 'the project has no parser for it, such as typescript');
}

const isFunction = (node) => /^(Function|ArrowFunction)|^(Object|Class|ClassPrivate)Method$/.test(node.type) && node.body;
const childrenOf = (node) =>
  node.inner || Object.values(node).flat().filter((child) => child && typeof child.type === 'string');
const nameOf = (node) => {
  if (node.kind === 'constructor') return 'constructor';
  const named = node.id || node.key || node.left || {};
  const last = named.property || named;
  return (last.id && last.id.name) || last.name || (typeof last.value === 'string' ? last.value : undefined);
};
const calleeName = (callee) => callee && nameOf({ id: callee.expression || callee });

// Functions with a name; what is handed to a call that stands alone, a test say, is none.
function functionsOf(node, within, name, found) {
  const own = nameOf(node) || (node.type === 'ExportDefaultDeclaration' ? 'default' : name);
  if (isFunction(node)) {
    if (own) found.push({ name: within + own, node });
    return;
  }
  const isCall = (inner) => inner && /^(Call|Await|Chain)/.test(inner.type);
  if (node.type === 'ExpressionStatement' && isCall(node.expression)) return;
  const inside = /^Class(Declaration|Expression)$/.test(node.type) ? `${within}${own || 'class'}.` : within;
  for (const child of childrenOf(node)) functionsOf(child, inside, inside === within ? own : undefined, found);
}

// The names of what runs as a module is loaded: without it, nothing could be.
function runByLoading(node, names) {
  if (/^(Call|New|TaggedTemplate)Expression$/.test(node.type)) names.add(calleeName(node.callee || node.tag));
  if (node.type === 'Decorator') names.add(node.callee ? node.callee.name : calleeName(node.expression));
  const children = childrenOf(node);
  const loaded = isFunction(node) ? children.filter((child) => child.type === 'Decorator') : children;
  for (const child of loaded) runByLoading(child, names);
}

function emptied(text, { node }, mark) {
  const thrown = `if (1) throw new Error("${mark}");`;
  const { start, end, type } = node.body;
  if (type !== 'BlockStatement') {
    return [[start, `{ ${thrown} return (`], [end, '); }']];
  }
  let at = start + 1;
  const { body, directives = [] } = node.body;
  for (const statement of [...directives, ...body]) {
    const written = text.slice(statement.start, statement.end);
    if (!/^(['"])use [^'"]*\1;?$|^super\(/.test(written)) break;
    at = statement.end;
  }
  // Behind a statement that ends without a semicolon.
  return [[at, at === start + 1 ? ` ${thrown} ` : `; ${thrown} `]];
}

function hollow({ base, now, path: name }, names, limit) {
  const keyOf = (found, body) => (question.only_new ? found.name : `${found.name} ${body}`);
  const all = (source) => {
    const found = [];
    const { text, tree } = parse(source, name);
    functionsOf(tree, '', undefined, found);
    const written = ({ node }) => text.slice(node.body.start, node.body.end).replace(/\s+/g, ' ');
    return { text, found: found.map((found) => ({ ...found, key: keyOf(found, written(found)) })) };
  };
  const before = new Set(all(base || '').found.map((found) => found.key));
  const isEmpty = ({ node }) => node.body.type === 'BlockStatement' && node.body.body.length === 0;
  const isLoaded = (found) => found.name.split('.').some((part) => names.has(part));
  let { text, found } = all(now);
  const changed = found.filter((found) => !before.has(found.key) && !isEmpty(found) && !isLoaded(found));
  const edits = changed.slice(0, limit).flatMap((found) => emptied(text, found, question.mark));
  for (const [at, added] of edits.sort(([first], [second]) => second - first)) {
    text = text.slice(0, at) + added + text.slice(at);
  }
  parse(text, name);
  const functions = changed.slice(0, limit).map((found) => found.name);
  return { text, functions, left_out: Math.max(0, changed.length - limit) };
}

const question = JSON.parse(fs.readFileSync(path.join(__dirname, 'question.json'), 'utf8'));
const names = new Set();
for (const { now, path: name } of question.files) {
  try {
    runByLoading(parse(now, name).tree, names);
  } catch {}
}
let { limit } = question;
const answers = question.files.map((file) => {
  try {
    const hollowed = hollow(file, names, limit);
    limit -= hollowed.functions.length;
    return { hollowed };
  } catch (error) {
    return { problem: error instanceof RangeError ? 'it is too large or too deep to be parsed' : error.message };
  }
});
fs.writeFileSync(path.join(__dirname, 'answer.json'), JSON.stringify(answers));
