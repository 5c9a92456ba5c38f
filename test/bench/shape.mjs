// How readable `src` is, in numbers that can be compared between two commits: `npm run bench -- shape [folder]`.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseAst } from 'vite';

const src = resolve(process.argv[2] ?? join(import.meta.dirname, '..', '..', 'src'));
const files = readdirSync(src, { recursive: true }).filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));

const types = new Map(); // the file that declares each type
const interfaces = new Map(); // the members of each interface, in the file that is read
const derived = []; // Pick, Omit, Partial, Extract or Exclude of one of our own types
const unions = new Map(); // the name of each union of string literals or of `kind`s, and its members
const functions = []; // { name, file, line, complexity, lines }
let longLines = 0;
let codeLines = 0;
let spreads = 0;

const derivations = ['Pick', 'Omit', 'Partial', 'Extract', 'Exclude'];
const branches = [
  'IfStatement',
  'ConditionalExpression',
  'LogicalExpression',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
  'CatchClause',
];

for (const file of files) {
  const text = readFileSync(join(src, file), 'utf8');
  const lines = text.split('\n');
  codeLines += lines.length - 1;
  longLines += lines.filter((line) => line.length > 100).length;
  const lineAt = (offset) => text.slice(0, offset).split('\n').length;
  const program = parseAst(text, { lang: 'ts' });
  interfaces.clear();
  for (const statement of program.body) {
    const declared = statement.declaration ?? statement;
    if (declared.type === 'TSInterfaceDeclaration') interfaces.set(declared.id.name, declared.body.body);
  }
  visit(program, { file, lineAt, name: undefined });
}

/** Walks the syntax tree and collects what is counted. */
function visit(node, place) {
  if (Array.isArray(node)) {
    for (const each of node) visit(each, place);
    return;
  }
  if (!node || typeof node.type !== 'string') return;
  if (node.type === 'TSTypeAliasDeclaration' || node.type === 'TSInterfaceDeclaration') {
    types.set(node.id.name, place.file);
    if (node.typeAnnotation) noteUnion(node.id.name, node.typeAnnotation);
  }
  if (node.type === 'TSTypeReference' && derivations.includes(node.typeName?.name))
    derived.push({ ...place, of: nameOfType(node.typeArguments?.params[0]) });
  if (node.type === 'SpreadElement') spreads += 1;
  if (isFunction(node)) noteFunction(node, place);
  const name = node.type === 'VariableDeclarator' ? node.id.name : (node.key?.name ?? place.name);
  for (const [key, child] of Object.entries(node)) {
    if (child && typeof child === 'object' && key !== 'parent') visit(child, { ...place, name });
  }
}

function nameOfType(type) {
  return type?.typeName?.name ?? (type?.type === 'TSTypeReference' ? 'qualified' : undefined);
}

function isFunction({ type }) {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';
}

function noteFunction(node, { file, lineAt, name }) {
  if (!node.body) return;
  const firstLine = lineAt(node.start);
  functions.push({
    name: node.id?.name ?? name ?? 'anonymous',
    file,
    line: firstLine,
    lines: lineAt(node.end) - firstLine + 1,
    complexity: complexityOf(node.body),
  });
}

/** McCabe: one, and one more for each branch. Functions inside are counted by themselves. */
function complexityOf(body) {
  let count = 1;
  const walk = (node) => {
    if (Array.isArray(node)) {
      node.forEach(walk);
      return;
    }
    if (!node || typeof node.type !== 'string' || isFunction(node)) return;
    if (branches.includes(node.type)) count += 1;
    if (node.type === 'SwitchCase' && node.test) count += 1;
    if (node.type === 'AssignmentPattern') count += 1;
    if (node.type === 'MemberExpression' && node.optional) count += 1;
    for (const child of Object.values(node)) if (child && typeof child === 'object') walk(child);
  };
  walk(body);
  return count;
}

/** The members of a union: string literals, and the literals that its objects have as `kind`. */
function noteUnion(name, type) {
  const members = new Set();
  const walk = (node) => {
    if (node.type === 'TSUnionType' || node.type === 'TSIntersectionType') node.types.forEach(walk);
    else if (node.type === 'TSParenthesizedType') walk(node.typeAnnotation);
    else if (node.type === 'TSLiteralType' && typeof node.literal.value === 'string') members.add(node.literal.value);
    else if (node.type === 'TSTypeLiteral') walkKind(node.members);
    else if (node.type === 'TSTypeReference') walkKind(interfaces.get(node.typeName.name) ?? []);
  };
  const walkKind = (properties) => {
    const kind = properties.find(({ key }) => key?.name === 'kind');
    if (kind?.typeAnnotation) walk(kind.typeAnnotation.typeAnnotation);
  };
  walk(type);
  if (members.size > 0) unions.set(name, members);
}

const unionsOfMember = new Map();
for (const [union, members] of unions) {
  for (const member of members) unionsOfMember.set(member, [...(unionsOfMember.get(member) ?? []), union]);
}
const shared = [...unionsOfMember].filter(([, names]) => names.length > 1).sort((a, b) => b[1].length - a[1].length);
const derivedOfOwn = derived.filter(({ of }) => types.has(of));
const over = (limit) => functions.filter(({ complexity }) => complexity > limit);

const rows = {
  files: files.length,
  lines: codeLines,
  'lines over 100 columns': longLines,
  types: types.size,
  'Pick, Omit, Partial, Extract, Exclude of our own types': derivedOfOwn.length,
  'unions of literals': unions.size,
  'members that stand in several unions': shared.length,
  spreads,
  functions: functions.length,
  'functions over 30 lines': functions.filter(({ lines }) => lines > 30).length,
  'functions of complexity over 10': over(10).length,
  'functions of complexity over 15': over(15).length,
  'files that `trigger` imports': reachableFrom('commands/trigger.ts').size,
  'files that `watch` imports': reachableFrom('commands/watch.ts').size,
};
for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(56)} ${value}`);
console.log('\nmembers that stand in several unions');
for (const [member, names] of shared) console.log(`  ${member.padEnd(20)} ${names.join(', ')}`);
console.log('\nfunctions of complexity over 10');
for (const each of over(10).sort((a, b) => b.complexity - a.complexity))
  console.log(`  ${String(each.complexity).padStart(3)}  ${each.file}:${each.line} ${each.name}`);

/** Every file of `src` that this one imports, directly or through others, with `import()` as well. */
function reachableFrom(start) {
  const seen = new Set();
  const queue = [join(src, start)];
  while (queue.length > 0) {
    const path = queue.pop();
    const name = relative(src, path);
    if (seen.has(name) || !files.includes(name)) continue;
    seen.add(name);
    for (const [, from] of readFileSync(path, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g))
      queue.push(resolve(path, '..', from));
  }
  return seen;
}
