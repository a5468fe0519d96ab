/**
 * The small wrongs that `npm run mutate` tries: each is one change of a source file, after which some test must fail.
 * Types, imports and logging are left alone, and so are texts, but for statements of SQL.
 * A syntax tree finds the places; the text itself is what is changed, so lines stay where they are.
 */
import { type NodePath, parseSync, traverse, types as t } from "@babel/core";

export interface Mutant {
  /** Offsets in the source: `source.slice(start, end)` becomes `replacement`. */
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
}

const OPERATORS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "&&": "||",
  "||": "&&",
  "+=": "-=",
  "-=": "+=",
};

const METHODS: Readonly<Record<string, string>> = { ceil: "floor", floor: "ceil", min: "max", max: "min" };

const SQL = /^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b|\b(?:SET|WHERE|VALUES|ON CONFLICT)\b/;
const SQL_OPERATOR = /(?<= )(<=|>=|<>|<|>|\+|-|AND|OR)(?=[ \n])/g;
const SQL_OPERATORS: Readonly<Record<string, string>> = {
  ...OPERATORS,
  "<>": "=",
  AND: "OR",
  OR: "AND",
};

/** What a call is made on: `log` in `log.warn(…)` and in `this.#call.log.warn(…)`. */
const isLogging = (callee: t.Node): boolean =>
  t.isMemberExpression(callee) &&
  (t.isIdentifier(callee.object, { name: "log" }) ||
    (t.isMemberExpression(callee.object) && t.isIdentifier(callee.object.property, { name: "log" })));

const isText = (node: t.Node): boolean =>
  t.isStringLiteral(node) ||
  t.isTemplateLiteral(node) ||
  (t.isBinaryExpression(node, { operator: "+" }) && (isText(node.left) || isText(node.right)));

/** `foo(…)`, `await foo(…)`, `yield* foo(…)`, `void foo(…)`. */
function callOf(node: t.Node): t.CallExpression | undefined {
  if (t.isCallExpression(node)) return node;
  if (t.isAwaitExpression(node) || t.isUnaryExpression(node, { operator: "void" })) return callOf(node.argument);
  return t.isYieldExpression(node) && node.argument ? callOf(node.argument) : undefined;
}

/** The only statement of a branch, braces or none. */
function onlyStatement(node: t.Statement): t.Statement | undefined {
  if (!t.isBlockStatement(node)) return node;
  return node.body.length === 1 ? node.body[0] : undefined;
}

const isLeaving = (node: t.Statement | undefined): boolean =>
  t.isReturnStatement(node) || t.isContinueStatement(node) || t.isBreakStatement(node) || t.isThrowStatement(node);

/** `const NAMES = […]`, `const NAMES = new Set([…])`, `const NAMES: Rules = { a: [ … ] }` at the top of a file. */
function isTable(parent: NodePath | null): boolean {
  let path = parent;
  while (path && (path.isNewExpression() || path.isTSAsExpression() || path.isTSSatisfiesExpression()))
    path = path.parentPath;
  return path?.isVariableDeclarator() === true && isTop(path.parentPath);
}

const isTop = (declaration: NodePath | null): boolean =>
  declaration?.parentPath?.isProgram() === true || declaration?.parentPath?.isExportNamedDeclaration() === true;

/** Where the alternatives of a regular expression stand, each with one bar. */
function alternatives(pattern: string): [from: number, to: number][] {
  const found: [number, number][] = [];
  const groups: { begin: number; bars: number[] }[] = [{ begin: 0, bars: [] }];
  const close = (end: number): void => {
    const { begin, bars } = groups.pop() ?? { begin: 0, bars: [] };
    const edges = [begin, ...bars.map((bar) => bar + 1), end + 1];
    if (bars.length === 0) return;
    for (let i = 0; i + 1 < edges.length; i++) {
      const [from = 0, to = 0] = [edges[i], edges[i + 1]];
      found.push(i + 2 < edges.length ? [from, to] : [from - 1, end]);
    }
  };
  let isClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const sign = pattern[i];
    if (sign === "\\") i++;
    else if (isClass) isClass = sign !== "]";
    else if (sign === "[") isClass = true;
    else if (sign === "(") {
      const [opening = "("] = /^\((?:\?(?:<?[=!]|:|<\w+>))?/.exec(pattern.slice(i)) ?? [];
      groups.push({ begin: i + opening.length, bars: [] });
    } else if (sign === ")") close(i);
    else if (sign === "|") groups.at(-1)?.bars.push(i);
  }
  close(pattern.length);
  return found;
}

/** Every mutant of a source, in the order of the text; the same for the same text. */
export function mutantsOf(source: string): Mutant[] {
  const file = parseSync(source, {
    babelrc: false,
    configFile: false,
    parserOpts: { plugins: ["typescript", "importAttributes"] },
  });
  if (!file) throw new Error("the source could not be read");
  const found = new Map<string, Mutant>();
  const add = (start: number, end: number, replacement: string): void => {
    const original = source.slice(start, end);
    if (original === replacement) return;
    const line = source.slice(0, start).split("\n").length;
    found.set(`${start} ${end} ${replacement}`, { start, end, line, original, replacement });
  };
  const span = (node: t.Node): [number, number] => [node.start ?? 0, node.end ?? 0];
  const textOf = (node: t.Node): string => source.slice(...span(node));
  const replace = (node: t.Node, replacement: string): void => add(...span(node), replacement);

  /** Another operator between the two operands, wherever it stands there. */
  function operator(left: t.Node, right: t.Node, from: string): void {
    const to = OPERATORS[from];
    if (to === undefined || ((from === "+" || from === "+=") && (isText(left) || isText(right)))) return;
    const begin = left.end ?? 0;
    const at = source.slice(begin, right.start ?? begin).indexOf(from);
    if (at >= 0) add(begin + at, begin + at + from.length, to);
  }

  function sql(node: t.Node): void {
    const [start] = span(node);
    const text = textOf(node);
    if (!SQL.test(text.slice(1))) return;
    for (const match of text.matchAll(SQL_OPERATOR)) {
      const to = SQL_OPERATORS[match[0]];
      if (to !== undefined) add(start + match.index, start + match.index + match[0].length, to);
    }
  }

  /** Of `? :` and of `if`: the other way round. A comparison by itself becomes its opposite as an operator. */
  function negate(test: t.Node): void {
    if (t.isBinaryExpression(test) && (test.operator === "===" || test.operator === "!==")) return;
    if (t.isUnaryExpression(test, { operator: "!" })) replace(test, textOf(test.argument));
    else replace(test, `!(${textOf(test)})`);
  }

  traverse(file, {
    enter(path) {
      const { node } = path;
      if (t.isTypeScript(node) && !t.isTSAsExpression(node) && !t.isTSSatisfiesExpression(node)) {
        if (!t.isTSParameterProperty(node) && !t.isTSNonNullExpression(node)) path.skip();
      } else if (t.isImportDeclaration(node) || t.isExportAllDeclaration(node)) path.skip();
      else if (t.isCallExpression(node) && isLogging(node.callee)) path.skip();
    },
    BinaryExpression: ({ node }) => operator(node.left, node.right, node.operator),
    AssignmentExpression: ({ node }) => operator(node.left, node.right, node.operator),
    LogicalExpression: ({ node }) => {
      operator(node.left, node.right, node.operator);
      if (node.operator === "??") replace(node, `(${textOf(node.left)})`);
    },
    MemberExpression: ({ node: { object, property } }) => {
      const to = t.isIdentifier(property) ? METHODS[property.name] : undefined;
      if (to !== undefined && t.isIdentifier(object, { name: "Math" })) replace(property, to);
    },
    BooleanLiteral: ({ node }) => replace(node, String(!node.value)),
    NumericLiteral: ({ node }) => {
      // A time or a size that is off by one is no fault; a status that is twice itself is one.
      replace(node, String(node.value > 100 ? node.value * 2 : node.value + 1));
      if (node.value > 1) replace(node, "0");
    },
    BigIntLiteral: ({ node }) => replace(node, `${BigInt(node.value) + 1n}n`),
    StringLiteral: ({ node }) => sql(node),
    TemplateElement: ({ node, parent }) => {
      // Quasis have no quotes of their own; the whole template tells whether it is SQL.
      if (t.isTemplateLiteral(parent) && parent.quasis[0] === node) sql(parent);
    },
    ConditionalExpression: ({ node }) => negate(node.test),
    IfStatement: ({ node }) => {
      negate(node.test);
      if (!node.alternate && isLeaving(onlyStatement(node.consequent))) replace(node, ";");
    },
    ExpressionStatement: ({ node }) => {
      const call = callOf(node.expression);
      if (call && !t.isSuper(call.callee) && !isLogging(call.callee)) replace(node, ";");
    },
    ContinueStatement: ({ node, parent }) => {
      if (!t.isIfStatement(parent)) replace(node, ";");
    },
    BreakStatement: ({ node, parent }) => {
      if (!t.isIfStatement(parent) && !t.isSwitchCase(parent)) replace(node, ";");
    },
    RegExpLiteral: ({ node }) => {
      const [start] = span(node);
      for (const [from, to] of alternatives(node.pattern)) add(start + 1 + from, start + 1 + to, "");
    },
    ArrayExpression: ({ node: { elements }, parentPath }) => {
      // A list that stands at the top of a file is a table: what if one of its lines were missing?
      if (elements.length < 2 || !isTable(parentPath)) return;
      elements.forEach((element, i) => {
        if (!element) return;
        const [start, end] = span(element);
        const next = elements[i + 1];
        const before = elements[i - 1];
        if (next) add(start, next.start ?? end, "");
        else add(before?.end ?? start, end, "");
      });
    },
    ObjectPattern: ({ node: { properties } }) => {
      // What is taken out of a rest stays in it.
      if (!t.isRestElement(properties.at(-1))) return;
      properties.forEach((property, i) => {
        const next = properties[i + 1];
        if (next) add(property.start ?? 0, next.start ?? 0, "");
      });
    },
    CallExpression: ({ node: { callee, end } }) => {
      // `x.catch(…)` without its catch.
      if (!t.isMemberExpression(callee) || !t.isIdentifier(callee.property, { name: "catch" })) return;
      add(callee.object.end ?? 0, end ?? 0, "");
    },
  });
  return [...found.values()].sort((a, b) => a.start - b.start || a.end - b.end);
}

export const applied = (source: string, { start, end, replacement }: Mutant): string =>
  source.slice(0, start) + replacement + source.slice(end);

/** The line of a mutant before and after, as a list of equivalent mutants names it. */
export function lineBeforeAndAfter(source: string, mutant: Mutant): [before: string, after: string] {
  const begin = source.lastIndexOf("\n", mutant.start - 1) + 1;
  const lineOf = (text: string): string => (text.slice(begin).split("\n", 1)[0] ?? "").trim();
  return [lineOf(source), lineOf(applied(source, mutant))];
}

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** False: what came out is no program. */
export function isValid(source: string): boolean {
  try {
    transpiler.transformSync(source);
    return true;
  } catch {
    return false;
  }
}

/**
 * So many of the mutants, by chance but the same for the same seed: each mutant has its place in the draw by its own
 * line, so a change elsewhere in the file leaves the others in.
 */
export function sampleOf(source: string, mutants: readonly Mutant[], size: number, seed: number): Mutant[] {
  const rank = (mutant: Mutant): bigint =>
    BigInt(Bun.hash(`${lineBeforeAndAfter(source, mutant).join("\n")}\n${mutant.replacement}`, seed));
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : a.mutant.start - b.mutant.start));
  const drawn = new Set(ranked.slice(0, size).map(({ mutant }) => mutant));
  return mutants.filter((mutant) => drawn.has(mutant));
}
