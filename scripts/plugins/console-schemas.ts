import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Plugin } from "rolldown";
import { parseAst } from "rolldown/parseAst";

type Program = ReturnType<typeof parseAst>;
type Statement = Program["body"][number];
type Node = { type: string } & Readonly<Record<string, unknown>>;

interface Halves {
  /** The names that the half with schemas exports; empty: the module has none. */
  schemas: ReadonlySet<string>;
  halfOf: (half: Half) => string;
}
const HALVES = ["values", "schemas"] as const;
type Half = (typeof HALVES)[number];

const SHARED = /[\\/]src[\\/]shared[\\/][^?]+\.ts$/;
const HALF = /\.ts\?(values|schemas)$/;

/** Schemas and what runs them, for the rule of the files. */
export const SCHEMAS = /\.ts\?schemas$|[\\/]node_modules[\\/]zod[\\/]/;

/**
 * Rolldown plugin that divides a module of `shared` into its schemas and the rest. A module lies in a file whole, and
 * most files of `shared` hold constants that a list shows beside the schemas that a form checks by: without it
 * each list would fetch zod and every schema.
 *
 * The schemas are the top-level statements that use zod or something that does, in this module or in one it imports.
 */
export function consoleSchemas(): Plugin {
  const known = new Map<string, Halves>();
  const halves = (path: string): Halves => {
    const found = known.get(path) ?? divided(path, halves);
    known.set(path, found);
    return found;
  };
  return {
    name: "console-schemas",
    resolveId: {
      filter: { id: HALF },
      handler: (id) => ({ id, moduleSideEffects: false }),
    },
    load: {
      filter: { id: [SHARED, HALF] },
      handler(id) {
        const [path = "", half] = id.split("?");
        const { schemas, halfOf } = halves(path);
        if (half) return { code: halfOf(half as Half), moduleType: "ts" };
        if (schemas.size === 0) return null;
        const [values, forms] = HALVES.map((name) => JSON.stringify(`${path}?${name}`));
        return {
          code: `export * from ${values};export { ${[...schemas].join(", ")} } from ${forms};`,
          moduleType: "ts",
          moduleSideEffects: false,
        };
      },
    },
  };
}

/**
 * The halves of the module `path`; `halves` divides those that it imports.
 */
export function divided(path: string, halves: (path: string) => Halves): Halves {
  const source = readFileSync(path, "utf8");
  const { body } = parseAst(source, { lang: "ts" });
  const tainted = new Set<string>();
  for (const statement of body)
    if (statement.type === "ImportDeclaration" && statement.importKind !== "type")
      for (const specifier of statement.specifiers)
        if (bringsSchemas(path, statement.source.value, specifier, halves)) tainted.add(specifier.local.name);
  if (tainted.size === 0) return { schemas: new Set(), halfOf: () => source };

  const parts = body
    .filter((statement) => statement.type !== "ImportDeclaration")
    .map((statement) => ({
      text: source.slice(statement.start, statement.end),
      declares: declaredBy(statement),
      uses: usedBy(statement as unknown as Node),
      isExported: statement.type.startsWith("Export"),
    }));
  const isSchema = (part: (typeof parts)[number]): boolean =>
    [...part.uses, ...part.declares].some((name) => tainted.has(name));
  for (let size = -1; size !== tainted.size;) {
    size = tainted.size;
    for (const part of parts) if (isSchema(part)) part.declares.forEach((name) => tainted.add(name));
  }
  // What only schemas use goes with them: what it imports may be large.
  for (let size = -1; size !== tainted.size;) {
    size = tainted.size;
    for (const part of parts) {
      const others = parts.filter((other) => other !== part && !isSchema(other));
      const isUsed = (name: string): boolean => others.some(({ uses }) => uses.has(name));
      if (!part.isExported && part.declares.length > 0 && !part.declares.some(isUsed))
        part.declares.forEach((name) => tainted.add(name));
    }
  }
  const of = (half: Half) => parts.filter((part) => isSchema(part) === (half === "schemas"));
  const declared = of("values").flatMap(({ declares }) => declares);
  const used = new Set(of("schemas").flatMap(({ uses }) => [...uses]));
  const lent = declared.filter((name) => used.has(name));
  const hidden = new Set(
    of("values")
      .filter(({ isExported }) => !isExported)
      .flatMap(({ declares }) => declares),
  );

  const halfOf = (half: Half): string => {
    const own = of(half);
    const needed = new Set(own.flatMap(({ uses }) => [...uses]));
    const imports = body.flatMap((statement) =>
      statement.type === "ImportDeclaration" ? importOf(statement, needed) : [],
    );
    const between =
      half === "schemas"
        ? `import { ${lent.join(", ")} } from ${JSON.stringify(`${path}?values`)};`
        : `export { ${lent.filter((name) => hidden.has(name)).join(", ")} };`;
    return [...imports, between, ...own.map(({ text }) => text)].join("\n");
  };
  const exported = of("schemas")
    .filter(({ isExported }) => isExported)
    .flatMap(({ declares }) => declares);
  return { schemas: new Set(exported), halfOf };
}

type Import = Extract<Statement, { type: "ImportDeclaration" }>;
type Specifier = Import["specifiers"][number];

/** The name under which the imported module exports it; null for all of it. */
function importedName(specifier: Specifier): string | null {
  if (specifier.type === "ImportDefaultSpecifier") return "default";
  if (specifier.type === "ImportNamespaceSpecifier") return null;
  return specifier.imported.type === "Identifier" ? specifier.imported.name : specifier.imported.value;
}

function bringsSchemas(path: string, from: string, specifier: Specifier, halves: (path: string) => Halves): boolean {
  if (from === "zod") return true;
  if (!from.startsWith(".") || (specifier.type === "ImportSpecifier" && specifier.importKind === "type")) return false;
  const { schemas } = halves(Bun.resolveSync(from, dirname(path)));
  const name = importedName(specifier);
  return name === null ? schemas.size > 0 : schemas.has(name);
}

/** The import with the names that are `needed` only; none when there are none. */
function importOf({ specifiers, source, importKind }: Import, needed: ReadonlySet<string>): string[] {
  if (importKind === "type") return [];
  return specifiers
    .filter((specifier) => needed.has(specifier.local.name))
    .map((specifier) => {
      const name = importedName(specifier);
      const names = name === null ? `* as ${specifier.local.name}` : `{ ${name} as ${specifier.local.name} }`;
      return `import ${names} from ${JSON.stringify(source.value)};`;
    });
}

function declaredBy(statement: Statement): string[] {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (declaration?.type === "FunctionDeclaration" || declaration?.type === "ClassDeclaration")
    return declaration.id ? [declaration.id.name] : [];
  if (declaration?.type !== "VariableDeclaration") return [];
  return declaration.declarations.flatMap(({ id }) => [...usedBy(id as unknown as Node)]);
}

/** Names that stand in it as values: not types, not keys. Names of its own are among them. */
function usedBy(start: Node): Set<string> {
  const names = new Set<string>();
  const visitAll = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visitAll);
    else if (isNode(value)) visit(value);
  };
  const visit = (node: Node): void => {
    const { type } = node;
    if (type === "Identifier") names.add(String(node["name"]));
    else if (type.startsWith("TS")) visitAll(node["expression"]);
    else if (type === "MemberExpression") visitAll([node["object"], node["computed"] ? node["property"] : null]);
    else if (KEYED.has(type)) visitAll([node["value"], node["computed"] ? node["key"] : null]);
    else if (type === "ExportSpecifier") visitAll(node["local"]);
    else if (type !== "ExportNamedDeclaration" || !node["source"]) Object.values(node).forEach(visitAll);
  };
  visit(start);
  return names;
}

const KEYED: ReadonlySet<string> = new Set(["Property", "MethodDefinition", "PropertyDefinition"]);

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
